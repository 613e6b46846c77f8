/** All texts of the page in Chinese, by part. */

import type { Text } from "@/text/en";
import { approvals } from "@/text/zh/approvals";
import { attention } from "@/text/zh/attention";
import { background } from "@/text/zh/background";
import { browser } from "@/text/zh/browser";
import { chat } from "@/text/zh/chat";
import { composer } from "@/text/zh/composer";
import { inspector } from "@/text/zh/inspector";
import { looks } from "@/text/zh/looks";
import { models } from "@/text/zh/models";
import { operator } from "@/text/zh/operator";
import { page } from "@/text/zh/page";
import { panels } from "@/text/zh/panels";
import { schedules } from "@/text/zh/schedules";
import { servers } from "@/text/zh/servers";
import { sessions } from "@/text/zh/sessions";
import { work } from "@/text/zh/work";

export const zh: Text = {
  ...approvals,
  ...attention,
  ...background,
  ...browser,
  ...chat,
  ...composer,
  ...inspector,
  ...looks,
  ...models,
  ...operator,
  ...page,
  ...panels,
  ...schedules,
  ...servers,
  ...sessions,
  ...work,
};
