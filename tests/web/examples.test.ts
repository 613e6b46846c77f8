/** What the folders of the two whole examples bring for the page: cards, a browser tool, documents behind links. */

import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { address, answer, ask, call, openPage, script, useBrowser } from "./harness";

useBrowser();

const EXAMPLES = join(import.meta.dirname, "..", "..", "examples");
const FOLDERS = {
  "support_desk/extensions/orders": "extensions/orders",
  "support_desk/extensions/returns": "extensions/returns",
  "support_desk/data/shop.sql": "data/shop.sql",
  "research_assistant/extensions/library": "extensions/library",
};

async function reload(): Promise<void> {
  const headers = { "x-admin-token": "open-sesame" }; // as serve.py has it
  const response = await fetch(`${address.url}/api/v1/extensions/reload`, { method: "POST", headers });
  expect(response.status).toBe(200);
}

beforeAll(async () => {
  for (const [from, to] of Object.entries(FOLDERS)) {
    cpSync(join(EXAMPLES, from), join(address.workspace, to), { recursive: true });
  }
  await reload();
});

afterAll(async () => {
  for (const made of [...Object.values(FOLDERS), "data"]) {
    rmSync(join(address.workspace, made), { recursive: true, force: true });
  }
  await reload();
});

test("the support desk draws orders with their state and price", async () => {
  await script(
    { when: "Ann Smith order", tool_calls: [call("find_orders", { search: "Ann Smith" })] },
    { when: "oak stool", text: "A stool and wood oil." },
  );
  const page = await openPage();
  await ask(page, "What did Ann Smith order?");
  await answer(page).getByText("A stool and wood oil.").waitFor();
  const order = answer(page).getByRole("region", { name: "A-1001", exact: true });
  expect(await order.textContent()).toContain("€89.00");
  expect(await order.locator(".orders-status").textContent()).toBe("delivered");
  expect(await answer(page).locator(".orders-order").count()).toBe(2);
});

test("the support desk saves a return label in the browser and shows it", async () => {
  await script(
    { when: "the label", tool_calls: [call("save_return_label", { order: "A-1001", customer: "Ann <Smith>" })] },
    { when: "return-A-1001.svg", text: "The label is saved." },
  );
  const page = await openPage();
  const saving = page.waitForEvent("download");
  await ask(page, "Save the label.");
  const file = await saving;
  expect(file.suggestedFilename()).toBe("return-A-1001.svg");
  expect(readFileSync(await file.path(), "utf8")).toContain("From: Ann &#60;Smith&#62;");
  await answer(page).getByText("The label is saved.").waitFor();
  const label = answer(page).getByRole("img", { name: "return-A-1001.svg", exact: true });
  expect(await label.evaluate((picture: HTMLImageElement) => picture.naturalWidth)).toBeGreaterThan(0);
});

test("the numbers in an answer of the research assistant open their documents", async () => {
  const cited = "Planting a tree costs 2,900 euros [[1]](/ext/library/current/documents/costs.md).";
  await script(
    { when: "tree cost", tool_calls: [call("find_facts", { question: "cost of planting a street tree" })] },
    { when: "2,900 euros", text: cited },
  );
  const page = await openPage();
  await ask(page, "What does a tree cost?");
  const link = answer(page).getByRole("link", { name: "[1]", exact: true });
  const opening = page.waitForEvent("popup");
  await link.click();
  const opened = await opening;
  await opened.getByText("What a street tree costs").waitFor();
  expect(await answer(page).locator(".library li a").first().getAttribute("href")).toMatch(
    /^\/ext\/library\/current\//,
  );
});
