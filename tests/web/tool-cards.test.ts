/** The card of a call: its input while it is written, and its output in a suitable form. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, ask, call, openPage, release, script, useBrowser } from "./harness";

useBrowser();

/** Asks for an output of one shape and opens the card that shows it. */
async function show(page: Page, what: string, state = "done") {
  await script(
    { when: `show me ${what}`, tool_calls: [call("show", { what })] },
    { when: "", text: `That was ${what}.` },
  );
  await ask(page, `show me ${what}`);
  await answer(page).getByText(`That was ${what}.`).waitFor();
  const card = answer(page).last().locator(`[data-tool-state=${state}]`);
  await card.getByRole("button").first().click();
  return card;
}

test("text, JSON, tables, images and diffs are each rendered in their own way", async () => {
  const page = await openPage();
  await (await show(page, "text")).getByText("plain words", { exact: true }).waitFor();
  await (await show(page, "json")).getByText('"name": "dovetail"').waitFor();
  const table = await show(page, "table");
  expect(await table.getByRole("columnheader").allTextContents()).toEqual(["joint", "minutes"]);
  expect(await table.getByRole("row").last().getByRole("cell").allTextContents()).toEqual(["box", "25"]);
  const image = (await show(page, "image")).getByRole("img", { name: "Output", exact: true });
  await expect.poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
  const diff = await show(page, "diff");
  await diff.locator(".text-accent", { hasText: "+slope 1:8" }).waitFor();
  await diff.locator(".text-danger", { hasText: "-slope 1:6" }).waitFor();
});

test("a tool that fails says why, and how long it took", async () => {
  const page = await openPage();
  const card = await show(page, "error", "failed");
  await card.getByText("the drawer is stuck").waitFor();
  await card
    .getByText(/\d m?s$/)
    .first()
    .waitFor();
});

test("the input is shown while it is being written", async () => {
  const piece = (delta: object) => ({ raw: `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n` });
  const part = (text: string) => piece({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  const start = { index: 0, id: "slowly", type: "function", function: { name: "calculate", arguments: "" } };
  await script(
    {
      when: "write slowly",
      steps: [piece({ tool_calls: [start] }), part('{"expression": "111 +'), { hold: "slowly" }, part(' 222"}')],
    },
    { when: "333", text: "Three times the same." },
  );
  const page = await openPage();
  await ask(page, "write slowly");
  await answer(page).locator("[data-tool-state=writing]").getByText("111 +").waitFor();
  await release("slowly");
  await answer(page).getByText("Three times the same.").waitFor();
  await answer(page).locator("[data-tool-state=done]").getByText("111 + 222").waitFor();
});

test("a command is shown with its output and exit code", async () => {
  await script(
    { when: "say it in a shell", tool_calls: [call("run_shell_command", { command: "ls -d ." })] },
    { when: "exit_code: 0", tool_calls: [call("run_shell_command", { command: "ls /nowhere-at-all" })] },
    { when: "nowhere-at-all", text: "One worked." },
  );
  const page = await openPage();
  await ask(page, "say it in a shell");
  const first = answer(page)
    .getByRole("region", { name: /^Run shell command/ })
    .first();
  await first.getByRole("button", { name: "Allow", exact: true }).click();
  const second = answer(page)
    .getByRole("region", { name: /^Run shell command/ })
    .nth(1);
  await second.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).getByText("One worked.").waitFor();
  await first.getByRole("button").first().click();
  await first.getByText("$ ls -d .").waitFor();
  await first.getByText("exit code 0").waitFor();
  await second.getByRole("button").first().click();
  await second.getByText("exit code 2").waitFor();
  await second.locator(".text-danger", { hasText: "nowhere-at-all" }).waitFor();
});
