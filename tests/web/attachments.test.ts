/** Files sent with a message: chosen, pasted, dropped, and rejected if they are too large. */

import type { Page } from "playwright-core";
import { test } from "vitest";
import { answer, ask, composer, countOf, openPage, requestAbout, script, useBrowser } from "./harness";

useBrowser();

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Pastes or drops a file into the page. */
async function bring(page: Page, event: "paste" | "drop", name: string): Promise<void> {
  const handle = await page.evaluateHandle(
    ({ name, pixel }) => {
      const bytes = Uint8Array.from(atob(pixel), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name, { type: "image/png" }));
      return transfer;
    },
    { name, pixel: PIXEL },
  );
  if (event === "drop") {
    await composer(page).dispatchEvent("drop", { dataTransfer: handle });
    return;
  }
  await composer(page).evaluate((field, transfer) => {
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true }));
  }, handle);
}

test("an image is sent with the message and stays in the conversation", async () => {
  await script({ when: "what is on it", text: "A dot." });
  const page = await openPage();
  await page.locator("input[type=file]").setInputFiles({
    name: "dot.png",
    mimeType: "image/png",
    buffer: Buffer.from(PIXEL, "base64"),
  });
  await page.getByRole("button", { name: "Remove dot.png", exact: true }).waitFor();
  await ask(page, "what is on it?");
  await answer(page).getByText("A dot.").waitFor();
  await page.reload();
  await page
    .getByRole("article", { name: "You", exact: true })
    .getByRole("img", { name: "dot.png", exact: true })
    .waitFor();
});

test("images can be pasted and dropped, and removed again", async () => {
  await script({ when: "what are they", text: "Dots." });
  const page = await openPage();
  await bring(page, "paste", "pasted.png");
  await page.getByRole("button", { name: "Remove pasted.png", exact: true }).waitFor();
  await bring(page, "drop", "dropped.png");
  await page.getByRole("button", { name: "Remove dropped.png", exact: true }).waitFor();
  await bring(page, "drop", "wrong.png");
  await page.getByRole("button", { name: "Remove wrong.png", exact: true }).click();
  await ask(page, "what are they?");
  await answer(page).getByText("Dots.").waitFor();
  await countOf(page.getByRole("article", { name: "You", exact: true }).getByRole("img"), 2);
  const sent = await requestAbout("what are they");
  if (sent.split(PIXEL).length !== 3) throw new Error(`the model did not get two pictures: ${sent.slice(0, 400)}`);
});

test("a file that is too large is rejected in words, and the message can still be sent", async () => {
  await script({ when: "without it", text: "Fine." });
  const page = await openPage();
  await page.locator("input[type=file]").setInputFiles({
    name: "huge.bin",
    mimeType: "application/octet-stream",
    buffer: Buffer.alloc(8_000_001),
  });
  await page.getByRole("alert").getByText("huge.bin is larger than 8.0 MB.").waitFor();
  await ask(page, "then without it");
  await answer(page).getByText("Fine.").waitFor();
  await countOf(page.getByRole("alert"), 0);
});
