/** The first start: the page is up while the model is downloaded, and says what answers if that fails. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openPage, useBrowser } from "./harness";

useBrowser();

const GOOD = { name: "local:good", title: "Good", state: "downloading", active: true };
const SMALL = { name: "local:small", title: "Small", state: "ready", active: true, stand_in: true };

/** Shows the page with these models instead of those of the server. */
async function showModels(page: Page, models: readonly object[]): Promise<void> {
  await page.route("**/api/v1/models", (route) => route.fulfill({ json: { models } }));
  await page.reload();
}

test.each([
  ["en", "The model is on its way: 52 %", "Questions are kept and answered when it is here."],
  ["zh-CN", "模型正在下载：52%", "问题会先保存，模型就绪后立即回答。"],
])("the page says in %s how far the model is, and that questions wait", async (locale, title, hint) => {
  const page = await openPage({ locale });
  await showModels(page, [{ ...GOOD, progress: { done: 580, total: 1100 } }]);
  const notice = page.getByRole("status").filter({ hasText: title });
  await notice.waitFor();
  expect(await notice.textContent()).toContain(hint);
});

test("a model that stands in is said to write placeholders, with the reason", async () => {
  const page = await openPage();
  const error = "Cannot connect to the package index of pip.";
  await showModels(page, [SMALL, { ...GOOD, active: false, state: "failed", error }]);
  const notice = page.getByRole("status").filter({ hasText: "its answers are placeholders" });
  await notice.waitFor();
  expect(await notice.textContent()).toContain(`local:small answers for now: its answers are placeholders. ${error}`);
});
