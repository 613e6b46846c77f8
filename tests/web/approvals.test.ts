/** Approving, declining and editing tool calls. */

import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { findings } from "./axe";
import {
  address,
  answer,
  ask,
  call,
  countOf,
  idle,
  openPage,
  openTab,
  requestAbout,
  script,
  useBrowser,
} from "./harness";

useBrowser();

/** Chooses one of the other answers to an approval. */
async function choose(page: Page, answer: string): Promise<void> {
  await page.getByRole("button", { name: "More answers", exact: true }).first().click();
  await page.getByRole("menuitem", { name: answer, exact: true }).click();
}

const note = (name: string, text: string) => call("write_note", { name, text });

test("a call that changes something waits for approval", async () => {
  await script(
    { when: "keep milk", tool_calls: [note("shopping", "milk")] },
    { when: "kept shopping: milk", text: "Noted." },
  );
  const page = await openPage();
  await ask(page, "keep milk");
  const card = answer(page).locator("[data-tool-state=waiting]");
  await card.getByText("milk").last().waitFor();
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).getByText("Noted.").waitFor();
  await answer(page).locator("[data-tool-state=done]").waitFor();
});

test("of two calls the allowed one waits quietly until the other one is answered", async () => {
  await script(
    {
      when: "keep two",
      tool_calls: [
        { ...note("one", "oak"), call_id: "h1" },
        { ...note("two", "ash"), call_id: "h2" },
      ],
    },
    { when: "kept two: ash", text: "Both are kept." },
  );
  const page = await openPage();
  await ask(page, "keep two");
  await countOf(answer(page).locator("[data-tool-state=waiting]"), 2);
  await page.getByRole("button", { name: "Allow", exact: true }).first().click();
  await answer(page).locator("[data-tool-state=held]").waitFor();
  await countOf(answer(page).locator("[data-tool-state=waiting]"), 1);
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).getByText("Both are kept.").waitFor();
});

test("the arguments can be edited before the call runs", async () => {
  await script(
    { when: "keep bread", tool_calls: [note("shopping", "bread")] },
    { when: "kept shopping: rye bread", text: "Rye it is." },
  );
  const page = await openPage();
  await ask(page, "keep bread");
  await choose(page, "Edit the input…");
  const field = page.getByRole("textbox", { name: "Input", exact: true });
  await field.fill('{"name": "shopping"');
  expect(await page.getByRole("button", { name: "Allow as edited", exact: true }).isDisabled()).toBe(true);
  await page.getByText("Must be a JSON object.").waitFor();
  await field.fill('{"name": "shopping", "text": "rye bread"}');
  await page.getByRole("button", { name: "Allow as edited", exact: true }).click();
  await answer(page).getByText("Rye it is.").waitFor();
});

test("the input that is edited stays in sight, and Escape leads back to the answers", async () => {
  const calls = [note("one", "line ".repeat(80)), note("two", "oak"), note("three", "ash")];
  await script({ when: "keep three", tool_calls: calls }, { when: "declined", text: "Two of three." });
  const page = await openPage({ height: 780 });
  await ask(page, "keep three");
  await countOf(page.locator("[data-ask]"), 3);
  // The answer is followed to its end, and the first call is in sight, near the upper edge.
  const more = page.locator("[data-ask]").first().getByRole("button", { name: "More answers", exact: true });
  await expect.poll(() => placeOf(more)).toMatchObject({ isAtEnd: true, isInSight: true });
  await more.click();
  await page.getByRole("menuitem", { name: "Edit the input…", exact: true }).click();
  const field = page.getByRole("textbox", { name: "Input", exact: true });
  expect(await placeOf(field)).toMatchObject({ isAtEnd: false, isInSight: true });
  await page.keyboard.press("Escape");
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await expect.poll(focused).toBe("Allow");
  await page.keyboard.press("y");
  await countOf(page.locator("[data-ask]"), 2);
  await page.keyboard.press("n");
  await countOf(page.locator("[data-ask]"), 1);
  await page.keyboard.press("n");
  await answer(page).getByText("Two of three.").waitFor();
});

/** Where an element is in the column of the chat, once nothing moves any more. */
function placeOf(element: Locator): Promise<{ isInSight: boolean; isAtEnd: boolean }> {
  return element.evaluate(async (one) => {
    const column = one.closest(".overflow-y-auto");
    if (column === null) throw new Error("not in the column");
    const frame = () => new Promise(requestAnimationFrame);
    for (let still = 0, before = Number.NaN; still < 20; ) {
      await frame();
      const { top } = one.getBoundingClientRect();
      still = top === before ? still + 1 : 0;
      before = top;
    }
    const { top, bottom } = one.getBoundingClientRect();
    const edges = column.getBoundingClientRect();
    return {
      isInSight: top >= edges.top && bottom <= edges.bottom,
      isAtEnd: column.scrollHeight - column.clientHeight - column.scrollTop < 2,
    };
  });
}

test("a declined call is reported to the model and the answer continues", async () => {
  await script(
    { when: "keep secrets", tool_calls: [note("secrets", "all")] },
    { when: "declined", text: "Then I will not." },
  );
  const page = await openPage();
  await ask(page, "keep secrets");
  await page.getByRole("button", { name: "Decline", exact: true }).click();
  await answer(page).getByText("Then I will not.").waitFor();
  const card = answer(page).locator("[data-tool-state=denied], [data-tool-state=failed]");
  await card.getByText("Write a note", { exact: true }).waitFor();
  await page.reload();
  await card.getByText("Write a note", { exact: true }).waitFor();
});

test("an open approval survives a reload and can be answered in another tab", async () => {
  await script(
    { when: "keep tea", tool_calls: [note("shopping", "tea")] },
    { when: "kept shopping: tea", text: "Tea noted." },
  );
  const page = await openPage();
  await ask(page, "keep tea");
  await answer(page).locator("[data-tool-state=waiting]").waitFor();
  await page.reload();
  const card = answer(page).locator("[data-tool-state=waiting]");
  await card.waitFor();
  const { asks } = await (await fetch(`${address.url}/api/v1/asks`)).json();
  const open = asks.find((one: { payload: { args: { text: string } } }) => one.payload.args.text === "tea");
  const body = JSON.stringify({ approved: true });
  await fetch(`${address.url}/api/v1/asks/${open.id}`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  await answer(page).getByText("Tea noted.").waitFor();
});

test("an approval that was answered elsewhere says so", async () => {
  await script(
    { when: "keep jam", tool_calls: [note("shopping", "jam")] },
    { when: "kept shopping: jam", text: "Jam noted." },
  );
  const page = await openPage({ expected: /409/ });
  await ask(page, "keep jam");
  await answer(page).locator("[data-tool-state=waiting]").waitFor();
  await page.route("**/api/v1/asks/*", async (route) => {
    await route.fetch();
    await route.continue();
  });
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).getByText("Jam noted.").waitFor();
});

test("a call allowed for a run is not asked about again in it, but in the next one", async () => {
  await script(
    { when: "keep salt twice", tool_calls: [note("pantry", "salt")] },
    { when: "kept pantry: salt", tool_calls: [note("pantry", "salt")] },
    { when: "kept pantry: salt", text: "Salted twice." },
    { when: "and once more", tool_calls: [note("pantry", "salt")] },
  );
  const page = await openPage();
  await ask(page, "keep salt twice");
  await choose(page, "Allow in this run");
  await answer(page).getByText("Salted twice.").waitFor();
  await answer(page)
    .getByRole("button", { name: /^Used tools 2 times/ })
    .waitFor();
  await idle(page);
  await ask(page, "and once more");
  await page.getByRole("button", { name: "Decline", exact: true }).waitFor();
});

test("a call that is always allowed is not asked about in another chat, but any other is", async () => {
  await script(
    { when: "keep pepper", tool_calls: [note("spices", "pepper")] },
    { when: "kept spices: pepper", text: "Pepper noted." },
    { when: "pepper again", tool_calls: [note("spices", "pepper")] },
    { when: "kept spices: pepper", text: "Noted without asking." },
    { when: "keep cumin", tool_calls: [note("spices", "cumin")] },
  );
  const page = await openPage();
  await ask(page, "keep pepper");
  await choose(page, "Always allow");
  await answer(page).getByText("Pepper noted.").waitFor();
  await page.getByRole("button", { name: "New chat", exact: true }).first().click();
  await ask(page, "pepper again");
  await answer(page).getByText("Noted without asking.").waitFor();
  await idle(page);
  await ask(page, "keep cumin");
  await page.getByRole("button", { name: "More answers", exact: true }).waitFor();
});

test("an overwrite shows what will change, and afterwards what has changed", async () => {
  const write = (content: string) => call("write_file", { path: "oak.md", content });
  await script(
    { when: "begin oak", tool_calls: [write("strong\nheavy\n")] },
    { when: "created oak.md", text: "Begun." },
    { when: "change oak", tool_calls: [write("strong\nlight\n")] },
    { when: "replaced oak.md", text: "Changed." },
  );
  const page = await openPage();
  await ask(page, "begin oak");
  const waiting = page.getByRole("group", { name: "Allow this call?", exact: true });
  await waiting.getByText("A new file").waitFor();
  await waiting.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).getByText("Begun.").waitFor();
  await idle(page);
  await ask(page, "change oak");
  await waiting.locator("[data-diff=removed]").getByText("heavy").waitFor();
  await waiting.locator("[data-diff=added]").getByText("light").waitFor();
  await waiting.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).getByText("Changed.").waitFor();
  const step = answer(page).last().locator("[data-tool-state=done]");
  await step.getByRole("button").first().click();
  await step.locator("[data-diff=added]").getByText("light").waitFor();
});

test("a command is shown with its folder, and the reason of a refusal reaches the model", async () => {
  await script(
    { when: "list it", tool_calls: [call("run_shell_command", { command: "ls -l" })] },
    { when: "and said: look with your own tools", text: "I will." },
  );
  const page = await openPage();
  await ask(page, "list it");
  const waiting = page.getByRole("group", { name: "Allow this call?", exact: true });
  await waiting.getByText("ls -l").waitFor();
  await waiting.getByText("In the workspace").waitFor();
  await choose(page, "Decline with a reason…");
  await waiting.getByRole("textbox", { name: "Why not?" }).fill("look with your own tools");
  await page.keyboard.press("Enter");
  await answer(page).getByText("I will.").waitFor();
  const declined = answer(page).locator("[data-tool-state=denied]");
  await declined.getByText("look with your own tools").waitFor();
  await page.reload();
  await declined.getByText("look with your own tools").waitFor();
  await declined.getByText("Run", { exact: true }).waitFor();
});

test("the other answers open upwards where the composer would cover them", async () => {
  const content = Array.from({ length: 12 }, (_, line) => `line ${line}`).join("\n");
  await script({ when: "long note", tool_calls: [call("write_file", { path: "long.md", content })] });
  const page = await openPage({ height: 700 });
  await ask(page, "long note");
  await page.getByRole("button", { name: "More answers", exact: true }).click();
  const list = await page.getByRole("menu", { name: "More answers" }).boundingBox();
  const field = await page.getByRole("textbox", { name: "Message", exact: true }).boundingBox();
  expect((list?.y ?? 0) + (list?.height ?? 0)).toBeLessThan(field?.y ?? 0);
});

test("several calls are answered by keyboard alone, and the focus is never lost", async () => {
  await script(
    { when: "three notes", tool_calls: [note("k1", "one"), note("k2", "two"), note("k3", "three")] },
    { when: "kept k1: one", text: "All looked at." },
    { when: "kept k3: three", text: "All looked at." },
  );
  const page = await openPage();
  await ask(page, "three notes");
  const waiting = page.getByRole("group", { name: "Allow this call?", exact: true });
  await countOf(waiting, 3);
  await waiting.first().getByText("2 more wait").waitFor();
  const focused = () =>
    page.evaluate(
      () => document.activeElement?.closest("[data-ask]")?.getAttribute("data-ask") ?? document.activeElement?.tagName,
    );
  const ids = await waiting.evaluateAll((all) => all.map((one) => one.getAttribute("data-ask")));
  await waiting.first().getByRole("button", { name: "2 more wait" }).press("Enter");
  expect(await focused()).toBe(ids[1]);
  await page.keyboard.press("n");
  await expect.poll(focused).toBe(ids[2]);
  await page.keyboard.press("y");
  await expect.poll(focused).toBe(ids[0]);
  await page.keyboard.press("Alt+Enter");
  await answer(page).getByText("All looked at.").waitFor();
  expect(await focused()).toBe("TEXTAREA");
  const read = await requestAbout("kept k3: three");
  for (const result of ["kept k1: one", "declined this call"]) expect(read).toContain(result);
});

test("all waiting calls of a kind are allowed at once", async () => {
  await script(
    { when: "two notes", tool_calls: [note("a1", "one"), note("a2", "two")] },
    { when: "kept a2: two", text: "Both kept." },
  );
  const page = await openPage();
  await ask(page, "two notes");
  await page.getByRole("button", { name: "Allow all 2 of this kind", exact: true }).first().click();
  await answer(page).getByText("Both kept.").waitFor();
  expect(await requestAbout("kept a2: two")).toContain("kept a1: one");
});

test("what was always allowed can be taken back at once", async () => {
  await script(
    { when: "keep thyme", tool_calls: [note("herbs", "thyme")] },
    { when: "kept herbs: thyme", text: "Thyme noted." },
    { when: "thyme again", tool_calls: [note("herbs", "thyme")] },
  );
  const page = await openPage();
  await ask(page, "keep thyme");
  await choose(page, "Always allow");
  await page.getByText("From now on this call is always allowed: Write a note").waitFor();
  await answer(page).getByText("Thyme noted.").waitFor();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("Taken back: you will be asked again.").waitFor();
  await idle(page);
  await ask(page, "thyme again");
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
});

test("a call that is out of sight is announced above the composer, which leads to it", async () => {
  await script(
    { when: "a long way", text: "Line.\n\n".repeat(80) },
    { when: "keep dill", tool_calls: [note("herbs", "dill")] },
    { when: "kept herbs: dill", text: "Dill noted." },
  );
  const page = await openPage();
  await ask(page, "a long way");
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await ask(page, "keep dill");
  const waiting = page.getByRole("group", { name: "Allow this call?", exact: true });
  await waiting.waitFor();
  const bar = page.getByRole("region", { name: "1 call waits for you: Write a note" });
  await countOf(bar, 0);
  await page
    .locator("[tabindex='0'].overflow-y-auto")
    .first()
    .evaluate((thread) => {
      thread.scrollTop = 0;
      thread.dispatchEvent(new WheelEvent("wheel", { deltaY: -100 }));
    });
  await bar.getByRole("button", { name: "Show", exact: true }).click();
  await countOf(bar, 0);
  await page.keyboard.press("y");
  await answer(page).getByText("Dill noted.").waitFor();
});

test("an approval that another tab has answered disappears from this one", async () => {
  await script(
    { when: "keep sage", tool_calls: [note("herbs", "sage")] },
    { when: "kept herbs: sage", text: "Sage noted." },
  );
  const page = await openPage();
  await ask(page, "keep sage");
  const allow = (where: Page) => where.getByRole("button", { name: "Allow", exact: true });
  await allow(page).waitFor();
  const tab = await openTab(page, `/${new URL(page.url()).hash}`);
  await allow(tab).click();
  for (const where of [tab, page]) {
    await answer(where).getByText("Sage noted.").waitFor();
    await countOf(allow(where), 0);
  }
});

test("the mode of a chat is chosen in the composer, kept with the chat, and holds from the next answer on", async () => {
  await script(
    { when: "keep basil", tool_calls: [note("herbs", "basil")] },
    { when: "in plan mode only read-only tools may run", text: "I can only plan." },
  );
  const page = await openPage();
  await page.getByRole("button", { name: "Mode: Ask first" }).click();
  await page.getByRole("menuitem", { name: /^Plan/ }).click();
  await ask(page, "keep basil");
  await answer(page).getByText("I can only plan.").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Mode: Plan" }).waitFor();
  await page.getByRole("button", { name: "New chat", exact: true }).first().click();
  await page.getByRole("button", { name: "Mode: Ask first" }).waitFor();
});

test.each([
  ["light", {}],
  ["dark on a phone", { isDark: true, width: 390, height: 844 }],
])("approvals, their menu and forms are accessible: %s", async (name, options) => {
  await script({
    when: `look at ${name}`,
    tool_calls: [
      call("write_file", { path: "looks.md", content: "One line.\n" }),
      call("run_shell_command", { command: "ls" }),
      call("ask_user", { questions: [{ question: "Which?", choices: ["This", "That"] }, { question: "Why?" }] }),
    ],
  });
  const page = await openPage(options);
  await ask(page, `look at ${name}`);
  await countOf(page.locator("[data-ask]"), 2);
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "More answers", exact: true }).first().click();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("menuitem", { name: "Edit the input…", exact: true }).click();
  await page.getByRole("textbox", { name: "Input", exact: true }).fill("{");
  expect(await findings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  for (let left = 2; left > 0; left--) {
    await page.getByRole("button", { name: "Decline", exact: true }).first().click();
    await countOf(page.getByRole("button", { name: "Decline", exact: true }), left - 1);
  }
  await page.getByRole("radio", { name: "This" }).check();
  expect(await findings(page)).toEqual([]);
});

test("characters that turn or hide a command are visible in its approval and in the answer", async () => {
  const command = "ls \u202egnp.exe\u200b\n$ rm -rf build";
  await script(
    { when: "run it quietly", tool_calls: [call("run_shell_command", { command })] },
    { when: "run_shell_command", text: "It is \u202eenod\u2066 &#x202e; now." },
  );
  const page = await openPage();
  await ask(page, "run it quietly");
  const shown = "ls \\u202egnp.exe\\u200b\\n$ rm -rf build";
  await answer(page).locator("pre").getByText(shown).waitFor();
  const texts = await answer(page).innerText();
  expect(texts.split("gnp.exe")).toHaveLength(3);
  expect(texts).not.toContain("\u202e");
  await page.getByRole("button", { name: "Decline", exact: true }).click();
  await answer(page).getByText("It is \\u202eenod\\u2066 \\u202e now.").waitFor();
});
