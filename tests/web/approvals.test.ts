/** Approving, declining and editing tool calls. */

import { expect, test } from "vitest";
import { address, answer, ask, call, countOf, openPage, script, useBrowser } from "./harness";

useBrowser();

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

test("the arguments can be edited before the call runs", async () => {
  await script(
    { when: "keep bread", tool_calls: [note("shopping", "bread")] },
    { when: "kept shopping: rye bread", text: "Rye it is." },
  );
  const page = await openPage();
  await ask(page, "keep bread");
  await page.getByRole("button", { name: "Edit input", exact: true }).click();
  const field = page.getByRole("textbox", { name: "Input", exact: true });
  await field.fill('{"name": "shopping"');
  expect(await page.getByRole("button", { name: "Allow", exact: true }).isDisabled()).toBe(true);
  await page.getByText("Must be a JSON object.").waitFor();
  await field.fill('{"name": "shopping", "text": "rye bread"}');
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await answer(page).getByText("Rye it is.").waitFor();
});

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
  await page.getByRole("button", { name: "Allow for this run", exact: true }).click();
  await answer(page).getByText("Salted twice.").waitFor();
  await countOf(answer(page).locator("[data-tool-state=done]"), 2);
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
  await page.getByRole("button", { name: "Always allow", exact: true }).click();
  await answer(page).getByText("Pepper noted.").waitFor();
  await page.getByRole("button", { name: "New chat", exact: true }).first().click();
  await ask(page, "pepper again");
  await answer(page).getByText("Noted without asking.").waitFor();
  await ask(page, "keep cumin");
  await page.getByRole("button", { name: "Always allow", exact: true }).waitFor();
});
