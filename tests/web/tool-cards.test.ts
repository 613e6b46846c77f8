/** The work in an answer: steps with verbs, groups that fold, outputs in a suitable form. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, ask, call, callTool, countOf, openPage, release, script, useBrowser } from "./harness";

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
  const json = await show(page, "json");
  await json.getByText('"name": "dovetail"').waitFor();
  await json.getByRole("button", { name: /"joint": \{/ }).click();
  await json.getByText('"name": "dovetail"').waitFor({ state: "detached" });
  const table = await show(page, "table");
  expect(await table.getByRole("columnheader").allTextContents()).toEqual(["joint", "minutes"]);
  expect(await table.getByRole("row").last().getByRole("cell").allTextContents()).toEqual(["box", "25"]);
  const image = (await show(page, "image")).getByRole("img", { name: "Output", exact: true });
  await expect.poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
  const diff = await show(page, "diff");
  expect(await diff.locator("[data-diff=added]").innerText()).toMatch(/1\s+\+\s+slope 1:8/);
  expect(await diff.locator("[data-diff=removed]").innerText()).toMatch(/1\s+-\s+slope 1:6/);
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
  const commands = answer(page).getByRole("group", { name: /^Run shell command/ });
  for (const name of ["ls -d .", "ls /nowhere-at-all"]) {
    const waiting = commands.filter({ hasText: name });
    await waiting.getByRole("button", { name: "Allow", exact: true }).click();
    await countOf(waiting.getByRole("button", { name: "Allow", exact: true }), 0);
  }
  await answer(page).getByText("One worked.").waitFor();
  await answer(page)
    .getByRole("button", { name: /^Ran 2 commands/ })
    .click();
  const first = commands.first();
  const second = commands.nth(1);
  await first.getByRole("button").first().click();
  await first.getByText("$ ls -d .").waitFor();
  await first.getByText("exit code 0").waitFor();
  await second.getByRole("button").first().click();
  await second.getByText("exit code 2").waitFor();
  await second.locator(".text-danger", { hasText: "nowhere-at-all" }).waitFor();
});

test("work is one line of steps with verbs; it folds when the text begins, and failures stay visible", async () => {
  await script(
    { when: "count and read", tool_calls: [call("count_up", { gate: "fold", to: 3 })] },
    { when: "counted to 3", tool_calls: [call("read_file", { path: "agents/scribe.md" })] },
    { when: "You write notes", tool_calls: [call("read_file", { path: "gone.txt" })] },
    { when: "gone.txt", steps: ["There is", { hold: "fold text" }, " one agent."] },
  );
  const page = await openPage();
  await ask(page, "count and read");
  const steps = answer(page).getByRole("list", { name: "Work" }).getByRole("listitem");
  // The live output is shown without a click.
  await steps.getByText("at 2", { exact: true }).waitFor();
  await callTool("open_gate", { gate: "fold" });
  await answer(page).getByText("There is").waitFor();
  const summary = answer(page).getByRole("button", { name: "Used 1 tool, read 2 files" });
  await summary.getByText("1 failed").waitFor();
  await countOf(steps, 1);
  expect(await steps.first().innerText()).toMatch(/^Read\s+gone\.txt/);
  await summary.click();
  await steps.getByText("agents/scribe.md").waitFor();
  await countOf(steps, 3);
  await release("fold text");
  await answer(page).getByText("There is one agent.").waitFor();
  // Opened by hand, it stays open when the run ends; a reload shows it folded.
  await countOf(steps, 3);
  await page.reload();
  await summary.waitFor();
  await countOf(steps, 1);
});

test("a chart and a picture stay visible, a table becomes a chart, links name their host", async () => {
  const page = await openPage();
  await script(
    { when: "draw", tool_calls: [call("show", { what: "chart" }), call("show", { what: "links" })] },
    { when: "How they hold", text: "Drawn." },
  );
  await ask(page, "draw the costs");
  await answer(page).getByText("Drawn.").waitFor();
  const chart = answer(page).getByRole("slider", { name: "Costs" });
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  expect(await chart.getAttribute("aria-valuetext")).toBe("Tue: cost 5");
  expect(await answer(page).getByRole("table", { name: "Costs" }).getByRole("row").count()).toBe(4);
  await answer(page)
    .getByRole("button", { name: /^Used tools 2 times/ })
    .click();
  await answer(page).getByRole("group", { name: /^Show/ }).nth(1).getByRole("button").first().click();
  const link = answer(page).getByRole("link", { name: /Joints/ });
  await link.getByText("example.org").waitFor();
  expect(await link.getAttribute("href")).toBe("https://example.org/joints");
  const table = await show(page, "table");
  await table.getByRole("button", { name: "Show as a chart" }).click();
  await table.getByRole("slider").waitFor();
});

test("colours of a terminal are drawn, and not shown as codes", async () => {
  const page = await openPage();
  const colors = await show(page, "colors");
  await colors.locator(".text-danger", { hasText: "FAIL" }).waitFor();
  expect(await colors.innerText()).not.toContain("[31m");
});

test("a to-do list is shown once, kept up to date, folded at the end, and is there after a reload", async () => {
  const todos = (saw: string, plane: string) => ({
    todos: [
      { content: "Saw the tails", status: saw },
      { content: "Plane the board", status: plane },
    ],
  });
  await script(
    { when: "build a box", tool_calls: [call("write_todos", todos("in_progress", "pending"))] },
    { when: "In progress: Saw", tool_calls: [call("count_up", { gate: "saw", to: 3 })] },
    { when: "counted to 3", tool_calls: [call("write_todos", todos("completed", "in_progress"))] },
    { when: "In progress: Plane", steps: ["Now I", { hold: "plane" }, " plane it."] },
  );
  const page = await openPage();
  await ask(page, "build a box");
  const list = answer(page).getByRole("list", { name: "To-do list" });
  await list.locator("[data-todo=in_progress]", { hasText: "Saw the tails" }).waitFor();
  await callTool("open_gate", { gate: "saw" });
  await list.locator("[data-todo=completed]", { hasText: "Saw the tails" }).waitFor();
  await list.locator("[data-todo=in_progress]", { hasText: "Plane the board" }).waitFor();
  await countOf(list, 1);
  await release("plane");
  await answer(page).getByText("Now I plane it.").waitFor();
  await countOf(list, 0);
  await page.reload();
  await answer(page)
    .getByRole("button", { name: /^To-do list\s*1 of 2 done/ })
    .click();
  await list.locator("[data-todo=completed]", { hasText: "Saw the tails" }).waitFor();
});
