/** Schedules: adding, pausing, running and deleting them, and the chats that they start. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, countOf, openPage, script, useBrowser } from "./harness";

useBrowser();

async function openPanel(page: Page) {
  await page.getByRole("button", { name: "Open the workbench", exact: true }).click();
  await page.getByRole("tab", { name: "Schedules", exact: true }).click();
  return page.getByRole("tabpanel", { name: "Schedules", exact: true });
}

test("a schedule is added, run, paused, resumed and deleted, and its chat says where it comes from", async () => {
  await script({ when: "any news", text: "No news is good news." });
  const page = await openPage({ expected: /422|400/ });
  const panel = await openPanel(page);
  await panel.getByText("No schedules yet.").waitFor();
  await panel.getByRole("button", { name: "Add a schedule", exact: true }).click();
  const times = panel.getByRole("textbox", { name: "Times", exact: true });
  await times.fill("0 9 * * 1-5 Mars/Base");
  await panel.getByRole("textbox", { name: "Message", exact: true }).fill("any news?");
  await panel.getByRole("textbox", { name: /^Title/ }).fill("Morning news");
  await panel.getByRole("button", { name: "Add", exact: true }).click();
  await panel.getByRole("alert").getByText("Mars/Base").waitFor();
  await times.fill("0 9 * * 1-5 America/New_York");
  await panel.getByText("Monday to Friday at 09:00 (America/New_York)").waitFor();
  await panel.getByRole("button", { name: "Add", exact: true }).click();

  const row = panel.getByRole("listitem").filter({ hasText: "Morning news" });
  await row.getByText("Monday to Friday at 09:00 (America/New_York)").waitFor();
  await row.getByText(/^Next: /).waitFor();
  await row.getByRole("button", { name: "Pause", exact: true }).click();
  await row.getByText("Paused").waitFor();
  await row.getByRole("button", { name: "Resume", exact: true }).click();
  await row.getByText(/^Next: /).waitFor();

  await row.getByRole("button", { name: "Run now", exact: true }).click();
  await row.getByRole("button", { name: /^Last: .*run by hand$/ }).click();
  await answer(page).getByText("No news is good news.").waitFor();
  const origin = page.getByRole("navigation", { name: "Where this chat comes from", exact: true });
  await origin.getByText(/^Started by a schedule on /).waitFor();
  await page.getByRole("navigation", { name: "Conversation" }).getByLabel("Started by a schedule").waitFor();

  await row.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await panel.getByText("No schedules yet.").waitFor();
  await answer(page).getByText("No news is good news.").waitFor();
});

test("the next time is shown in the reader's zone, and the panel fits a phone", async () => {
  const page = await openPage({ width: 390, height: 844 });
  const next = new Date(Date.now() + 7_200_000).toISOString();
  const schedule = {
    id: "s",
    agent: "scribe",
    schedule: "5 7 * * * UTC",
    message: "Tidy up.",
    source: "file",
    next_at: next,
  };
  await page.route("**/api/v1/schedules", (route) => route.fulfill({ json: { schedules: [schedule] } }));
  const panel = await openPanel(page);
  const hour = await page.evaluate((time) => `${new Date(time).getHours()}`.padStart(2, "0"), next);
  await panel.getByText(new RegExp(`^Next: .*${hour}:\\d\\d$`)).waitFor();
  await panel.getByText("Scribe, from the agent’s file").waitFor();
  await countOf(panel.getByRole("button", { name: "Delete", exact: true }), 0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
});
