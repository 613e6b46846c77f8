/** Tools that run in the page: once, in one tab, always acknowledged. */

import { expect, test } from "vitest";
import { address, answer, ask, call, countOf, openPage, openTab, script, useBrowser } from "./harness";

useBrowser();

const openUrl = (url: string, id?: string) =>
  call("open-url", { actionName: "Show the models", url, title: "Models here" }, id);

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
  await answer(page).getByRole("button", { name: "Show the models" }).waitFor();
  const link = answer(page).getByRole("link", { name: url.replace("http://", "") });
  expect(await link.getAttribute("href")).toBe(url);
  await link.click();
  await page.locator("iframe[title='Models here']").waitFor();
  await page.getByRole("button", { name: "Close the workbench" }).last().click();
  await link.click();
  await page.locator("iframe[title='Models here']").waitFor();

  await page.reload();
  await page.locator("iframe[title='Models here']").waitFor();
});

test("a site that refuses frames is a link to a tab of its own, and the model learns of it", async () => {
  await script(
    { when: "show the locked", tool_calls: [openUrl(`${address.locked}/`)] },
    { when: "does not allow to be shown", text: "There is a link." },
  );
  const page = await openPage();
  await ask(page, "show the locked");
  await answer(page).getByText("There is a link.").waitFor();
  await page.getByText("127.0.0.1 does not allow other pages to show it.").waitFor();
  expect(await page.locator("iframe").count()).toBe(0);
  const opened = page.context().waitForEvent("page");
  await page.getByRole("link", { name: "Open in a new tab" }).click();
  await expect.poll(async () => (await opened).url()).toBe(`${address.locked}/`);
});

test("a tool that the page has no handler for fails at once", async () => {
  await script(
    { when: "highlight it here", tool_calls: [call("highlight", { text: "oak" })] },
    { when: "no handler for the browser tool", text: "It cannot be highlighted." },
  );
  const page = await openPage();
  await ask(page, "highlight it here");
  await answer(page).getByText("It cannot be highlighted.").waitFor();
});

test("a call in the middle of which the page is left fails at once", async () => {
  const url = `${address.script}/v1/models?left`;
  const limit = { actionName: "Show", url, timeoutSec: 86_400 };
  await script(
    { when: "show and leave", tool_calls: [call("open-url", limit)] },
    { when: "closed or reloaded while", text: "The page was left." },
  );
  const page = await openPage();
  await page.route("**/api/v1/frames*", () => undefined);
  const begun = page.waitForRequest("**/api/v1/frames*");
  await ask(page, "show and leave");
  await begun;
  const chat = page.url();
  await page.goto("about:blank");
  await page.unroute("**/api/v1/frames*");
  await page.goto(chat);
  await answer(page).getByText("The page was left.").waitFor();
});

test("a call that had not begun when its only tab was closed runs in the next one", async () => {
  const url = `${address.script}/v1/models?next`;
  await script({ when: "show next", tool_calls: [openUrl(url)] }, { when: "viewKey", text: "Shown next." });
  const page = await openPage({ expected: /ERR_FAILED/ });
  await page.route("**/claim", (route) => route.abort());
  const refused = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/claim"));
  await ask(page, "show next");
  await refused;
  const next = await openTab(page, "/");
  const path = `/${new URL(page.url()).hash}`;
  await page.close();
  await next.goto(address.url + path);
  await next.reload();
  await answer(next).getByText("Shown next.").waitFor();
  await countOf(next.locator("iframe"), 1);
});

test("a call that had not begun when its tab was closed runs in the other tab of the chat", async () => {
  const url = `${address.script}/v1/models?other`;
  await script(
    { when: "hello both tabs", text: "Hello both." },
    { when: "show in the other", tool_calls: [openUrl(url)] },
    { when: "viewKey", text: "Shown in the other." },
  );
  const page = await openPage({ expected: /ERR_FAILED/ });
  await ask(page, "hello both tabs");
  await answer(page).getByText("Hello both.").waitFor();
  const other = await openTab(page, `/${new URL(page.url()).hash}`);
  await answer(other).getByText("Hello both.").waitFor();
  // The tab of the run cannot claim the call, and the other one only when that tab is closed.
  await page.route("**/claim", (route) => route.abort());
  let open = () => {};
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  await other.route("**/claim", async (route) => {
    await closed;
    await route.continue();
  });
  const refused = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/claim"));
  await ask(page, "show in the other");
  await refused;
  await answer(other).locator("[data-tool-state=running]").waitFor();
  await page.close();
  open();
  await answer(other).getByText("Shown in the other.").waitFor();
  await countOf(other.locator("iframe"), 1);
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
