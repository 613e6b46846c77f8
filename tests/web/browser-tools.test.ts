/** Tools that run in the page: once, in one tab, always acknowledged. */

import { expect, test } from "vitest";
import { address, answer, ask, call, countOf, openPage, openTab, script, useBrowser } from "./harness";

useBrowser();

const openUrl = (url: string, id?: string) => call("open-url", { actionName: "Open", url, title: "Models here" }, id);

test("open-url opens a panel next to the chat, and the model gets the result", async () => {
  const url = `${address.script}/v1/models`;
  await script({ when: "show health", tool_calls: [openUrl(url)] }, { when: "viewKey", text: "It is open." });
  const page = await openPage();
  await ask(page, "show health");
  await answer(page).getByText("It is open.").waitFor();
  await page.getByRole("tab", { name: "Models here", exact: true }).waitFor();
  await page.frameLocator("iframe[title='Models here']").locator("body").waitFor();

  await page.getByRole("button", { name: "Close Models here", exact: true }).click();
  await page.locator("iframe").waitFor({ state: "detached" });
  await answer(page).locator("[data-tool-state=done]").getByRole("button").first().click();
  await page.getByRole("button", { name: "Open again", exact: true }).click();
  await page.locator("iframe[title='Models here']").waitFor();
});

test("an invalid address is reported to the model as failed", async () => {
  await script(
    { when: "show nothing", tool_calls: [openUrl("javascript:alert(1)")] },
    { when: "Invalid URL", text: "That did not work." },
  );
  const page = await openPage();
  await ask(page, "show nothing");
  await answer(page).getByText("That did not work.").waitFor();
});

test("with two tabs on one chat the call runs once", async () => {
  const url = `${address.script}/v1/models?two`;
  await script(
    { when: "first of two tabs", text: "Hello there." },
    { when: "show readiness", tool_calls: [openUrl(url)] },
    { when: "viewKey", text: "Ready." },
  );
  const page = await openPage();
  await ask(page, "first of two tabs");
  await answer(page).getByText("Hello there.").waitFor();
  const other = await openTab(page, `/${new URL(page.url()).hash}`);
  await answer(other).getByText("Hello there.").waitFor();
  let acknowledgements = 0;
  page.context().on("request", (request) => {
    if (request.url().endsWith("/ai/tools/ack")) acknowledgements++;
  });
  await ask(page, "show readiness");
  await answer(page).getByText("Ready.").waitFor();
  // The tab of the run acts first; only if it is slow, the other one acts instead. Never both.
  await expect
    .poll(async () => (await page.locator("iframe").count()) + (await other.locator("iframe").count()))
    .toBe(1);
  expect(acknowledgements).toBe(1);
});

test("a call that waits during a reload runs after it, once", async () => {
  const url = `${address.script}/v1/models?later`;
  await script({ when: "show later", tool_calls: [openUrl(url)] }, { when: "viewKey", text: "Shown." });
  const page = await openPage({ expected: /ERR_FAILED/ });
  // The first tab cannot act: its claim is refused until the reload.
  await page.route("**/claim", (route) => route.abort());
  const refused = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/claim"));
  await ask(page, "show later");
  await refused;
  await answer(page).locator("[data-tool-state=running]").waitFor();
  await page.unroute("**/claim");
  await page.reload();
  await answer(page).getByText("Shown.").waitFor();
  await countOf(page.locator("iframe"), 1);
});
