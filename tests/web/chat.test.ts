/** Chatting: a question, its streamed answer, stopping, failing, resuming. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  address,
  answer,
  ask,
  call,
  callTool,
  composer,
  countOf,
  openPage,
  release,
  script,
  useBrowser,
} from "./harness";

useBrowser();

test("an answer streams in while it is being written", async () => {
  await script({ when: "stream please", steps: ["Half of **it", { hold: "stream" }, "** and the rest."] });
  const page = await openPage();
  await ask(page, "stream please");
  await answer(page).getByText("Half of it").waitFor();
  expect(await answer(page).locator("strong").textContent()).toBe("it");
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  await page.getByRole("navigation").getByRole("button", { name: "stream please", exact: true }).waitFor();
  await page.getByRole("heading", { name: "stream please", exact: true }).waitFor();
  await release("stream");
  await answer(page).getByText("Half of it and the rest.").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
});

test("a tool call is a card with its input, output and time", async () => {
  await script(
    { when: "127 times 49", tool_calls: [call("calculate", { expression: "127 * 49" })] },
    { when: "6223", text: "It is 6223." },
  );
  const page = await openPage();
  await ask(page, "What is 127 times 49?");
  await answer(page).getByText("It is 6223.").waitFor();
  const card = answer(page).locator("[data-tool-state=done]");
  await card.getByText("127 * 49 → 6223").waitFor();
  await card.getByRole("button").first().click();
  await card.getByText("127 * 49").last().waitFor();
  await card.getByText("6223").waitFor();
});

test("stopping cancels the run, and the page says so", async () => {
  await script({ when: "never ends", steps: ["A beginning", { hold: "never" }, "an end"] });
  const page = await openPage();
  await ask(page, "this never ends");
  await answer(page).getByText("A beginning").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await answer(page).getByText("Stopped.").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  const running = async () => {
    const { sessions } = await (await fetch(`${address.url}/api/v1/sessions?q=never`)).json();
    return sessions[0].run_id;
  };
  await expect.poll(running).toBeNull();
});

test("Escape pressed twice stops the answer, but not from a field that is about something else", async () => {
  await script({ when: "a long one", steps: ["A beginning", { hold: "escape" }, " and an end."] });
  const page = await openPage();
  await ask(page, "a long one");
  await answer(page).getByText("A beginning").waitFor();
  await page.getByRole("searchbox", { name: "Search chats", exact: true }).fill("old");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  await composer(page).evaluate((field) =>
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", isComposing: true, bubbles: true })),
  );
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  const workbench = page.getByRole("complementary", { name: "Workbench", exact: true });
  await workbench.waitFor();
  await composer(page).press("Escape");
  await workbench.waitFor({ state: "detached" });
  expect(await page.getByText("Press Esc again to stop").count()).toBe(0);
  await composer(page).press("Escape");
  await page.getByText("Press Esc again to stop").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  await composer(page).press("Escape");
  await answer(page).getByText("Stopped.").waitFor();
});

test("a model failure is shown in words, and a retry works", async () => {
  await script({ when: "fail once", status: 401, body: { error: { message: "Incorrect API key provided." } } });
  const page = await openPage();
  await ask(page, "fail once");
  const notice = page.getByRole("alert");
  await notice.waitFor();
  expect(await notice.textContent()).toContain("API key");
  await script({ when: "fail once", text: "Now it works." });
  await notice.getByRole("button", { name: "Try again", exact: true }).click();
  await answer(page).getByText("Now it works.").waitFor();
  await countOf(page.getByRole("alert"), 0);
});

test("a rejected key leads to the keys of providers, and back to the chat", async () => {
  await script({ when: "with a bad key", status: 401, body: { error: { message: "Incorrect API key provided." } } });
  const page = await openPage({ expected: /403/ });
  await ask(page, "with a bad key");
  await page.getByRole("alert").getByRole("link", { name: "Open the keys of providers", exact: true }).click();
  const keys = page.getByRole("button", { name: "Keys of providers", exact: true });
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-expanded") === "true");
  expect(await keys.getAttribute("aria-expanded")).toBe("true");
  await page.getByText("Only the operator of this server can do this").waitFor();
  await page.goBack();
  await page.getByRole("alert").getByText("API key").waitFor();
});

test("an unreachable server is shown in words, and the message is kept and sent again", async () => {
  await script({ when: "are you there", text: "Yes." });
  const page = await openPage({ expected: /ERR_FAILED|404/ });
  await composer(page).waitFor();
  await page.route("**/api/v1/chat", (route) => route.abort());
  await ask(page, "are you there?");
  await page.getByRole("alert").getByText("Cannot reach the server.").waitFor();
  await page.unroute("**/api/v1/chat");
  await page.getByRole("button", { name: "Try again", exact: true }).click();
  await answer(page).getByText("Yes.").waitFor();
  await countOf(page.getByRole("article", { name: "You", exact: true }), 1);
});

test("a reload in the middle of an answer rejoins it", async () => {
  await script({ when: "long story", steps: ["Once upon", { hold: "story" }, " a time."] });
  const page = await openPage();
  await ask(page, "a long story");
  await answer(page).getByText("Once upon").waitFor();
  await page.reload();
  await answer(page).getByText("Once upon").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  await release("story");
  await answer(page).getByText("Once upon a time.").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await countOf(answer(page), 1);
});

test("reasoning is collapsed and can be opened", async () => {
  await script({ when: "think first", reasoning: "Let me see.", text: "Seen." });
  const page = await openPage();
  await ask(page, "think first");
  await answer(page).getByText("Seen.").waitFor();
  expect(await page.getByText("Let me see.").count()).toBe(0);
  await page.getByRole("button", { name: "Thought process", exact: true }).click();
  await page.getByText("Let me see.").waitFor();
});

test("retrying and editing create branches that can be switched", async () => {
  await script(
    { when: "pick a colour", text: "Red." },
    { when: "pick a colour", text: "Blue." },
    { when: "pick a number", text: "Seven." },
  );
  const page = await openPage();
  await ask(page, "pick a colour");
  await answer(page).getByText("Red.").waitFor();
  await answer(page).hover();
  await answer(page).getByRole("button", { name: "Try again", exact: true }).click();
  await answer(page).getByText("Blue.").waitFor();
  await page.getByRole("group", { name: "Version 2 of 2", exact: true }).waitFor();
  await page.getByRole("button", { name: "Previous version", exact: true }).click();
  await answer(page).getByText("Red.").waitFor();

  const question = page.getByRole("article", { name: "You", exact: true });
  await question.hover();
  await question.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Edit", exact: true }).fill("pick a number");
  await page.getByRole("textbox", { name: "Edit", exact: true }).press("Enter");
  await answer(page).getByText("Seven.").waitFor();
  await question.getByRole("button", { name: "Previous version", exact: true }).click();
  await page.getByRole("article", { name: "You", exact: true }).getByText("pick a colour").waitFor();
  await page.reload();
  await page.getByRole("article", { name: "You", exact: true }).getByText("pick a colour").waitFor();
  await answer(page).waitFor();
});

test("Markdown cannot inject script, markup or remote images", async () => {
  const text = [
    "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "[click](javascript:alert(1)) ![pixel](https://tracker.example/p.png)",
    "[docs](https://docs.example/)",
  ].join("\n\n");
  await script({ when: "be evil", text });
  const page = await openPage();
  await ask(page, "be evil");
  await answer(page).getByRole("link", { name: "docs", exact: true }).waitFor();
  expect(await answer(page).locator("img, script").count()).toBe(0);
  const links = await answer(page).getByRole("link").all();
  const addresses = await Promise.all(links.map((link) => link.getAttribute("href")));
  expect(addresses).toEqual(["https://tracker.example/p.png", "https://docs.example/"]);
  expect(await links[1]?.getAttribute("rel")).toContain("noopener");
});

test("code is highlighted and formulas are rendered under the strict content policy", async () => {
  await script({ when: "code and math", text: "```python\nx = 1\n```\n\nAnd $a^2$." });
  const page = await openPage();
  await ask(page, "code and math");
  await answer(page).locator(".hljs-number").waitFor();
  await answer(page).locator(".katex").first().waitFor();
});

test("an answer can be copied even without the clipboard API", async () => {
  await script({ when: "copy this", text: "Words to keep." });
  const page = await openPage();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await ask(page, "copy this");
  await answer(page).getByText("Words to keep.").waitFor();
  await page.evaluate(() => {
    const copied: string[] = [];
    Object.defineProperty(navigator, "clipboard", { value: undefined });
    document.addEventListener("copy", () => copied.push(String((document.activeElement as HTMLTextAreaElement).value)));
    Object.assign(window, { copied });
  });
  await answer(page).hover();
  await answer(page).getByRole("button", { name: "Copy", exact: true }).click();
  await answer(page).getByRole("button", { name: "Copied", exact: true }).waitFor();
  expect(await page.evaluate(() => (window as unknown as { copied: string[] }).copied)).toEqual(["Words to keep."]);
});

test("a running tool shows its progress", async () => {
  await script(
    { when: "count up to three", tool_calls: [call("count_up", { to: 3, gate: "count" })] },
    { when: "counted to 3", text: "Counted." },
  );
  const page = await openPage();
  await ask(page, "count up to three");
  const card = answer(page).locator("[data-tool-state=running]");
  await card.getByRole("button").first().click();
  await card.getByText("at 2", { exact: true }).waitFor();
  await callTool("open_gate", { gate: "count" });
  await answer(page).getByText("Counted.").waitFor();
  await answer(page).locator("[data-tool-state=done]").getByText("counted to 3").waitFor();
});

test("a call that is stopped with its run was interrupted, and has not failed", async () => {
  await script({ when: "count and stop", tool_calls: [call("count_up", { gate: "never-opened" })] });
  const page = await openPage();
  await ask(page, "count and stop");
  await answer(page).getByText("at 2").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await answer(page).getByText("Stopped.").waitFor();
  const step = answer(page).locator("[data-tool-state=interrupted]");
  await step.getByText("Interrupted", { exact: true }).waitFor();
  await page.reload();
  await step.getByText("Interrupted", { exact: true }).waitFor();
  await countOf(answer(page).locator("[data-tool-state=failed]"), 0);
});

test("an answer that was cut short by a limit says which one, also after a reload", async () => {
  const file = join(address.workspace, "agents", "hasty.md");
  writeFileSync(file, "---\nname: hasty\ndescription: Has one turn.\nmax_turns: 1\n---\nYou hurry.\n");
  const headers = { "x-admin-token": "open-sesame" }; // as serve.py has it
  await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
  try {
    await script(
      { when: "as far as you can", tool_calls: [call("calculate", { expression: "20 + 1" })] },
      { text: "As far as I came." },
    );
    const page = await openPage();
    await ask(page, "@hasty as far as you can");
    await answer(page).getByText("As far as I came.").waitFor();
    const line = answer(page).getByText("Stopped: turn limit reached. The answer may be incomplete.", { exact: true });
    await line.waitFor();
    await page.reload();
    await line.waitFor();
  } finally {
    rmSync(file);
  }
});

test("an answer that the model broke off says so, also after a reload", async () => {
  await script({ when: "everything", text: "It begins with", finish_reason: "length" });
  const page = await openPage();
  await ask(page, "everything about wood");
  await answer(page).getByText("it reached its longest length").waitFor();
  await page.reload();
  await answer(page).getByText("it reached its longest length").waitFor();
});
