/** All texts of the page in English, by part. */

import { approvals } from "@/text/en/approvals";
import { attention } from "@/text/en/attention";
import { background } from "@/text/en/background";
import { browser } from "@/text/en/browser";
import { chat } from "@/text/en/chat";
import { composer } from "@/text/en/composer";
import { inspector } from "@/text/en/inspector";
import { looks } from "@/text/en/looks";
import { models } from "@/text/en/models";
import { operator } from "@/text/en/operator";
import { page } from "@/text/en/page";
import { panels } from "@/text/en/panels";
import { schedules } from "@/text/en/schedules";
import { servers } from "@/text/en/servers";
import { sessions } from "@/text/en/sessions";
import { work } from "@/text/en/work";

export const parts = {
  approvals,
  attention,
  background,
  browser,
  chat,
  composer,
  inspector,
  looks,
  models,
  operator,
  page,
  panels,
  schedules,
  servers,
  sessions,
  work,
};

export const en = {
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

export type Text = typeof en;
