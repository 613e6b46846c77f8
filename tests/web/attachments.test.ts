/** Files sent with a message: chosen, pasted and dropped anywhere, shown, opened, and refused in words. */

import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { findings } from "./axe";
import { answer, ask, composer, countOf, openPage, requestAbout, script, useBrowser } from "./harness";

useBrowser();

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const chooser = (page: Page) => page.locator("input[type=file]");
const remove = (page: Page, name: string) => page.getByRole("button", { name: `Remove ${name}`, exact: true });
const question = (page: Page) => page.getByRole("article", { name: "You", exact: true });
const lightbox = (page: Page, name: string) => page.getByRole("dialog", { name, exact: true });

/** Pastes or drops a picture somewhere; returns whether the browser was kept from acting on it. */
async function bring(event: "paste" | "drop", name: string, place: Locator): Promise<boolean> {
  return place.evaluate(
    (element, { event, name, pixel }) => {
      const bytes = Uint8Array.from(atob(pixel), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name, { type: "image/png" }));
      const options = { bubbles: true, cancelable: true };
      const made =
        event === "paste"
          ? new ClipboardEvent("paste", { clipboardData: transfer, ...options })
          : new DragEvent("drop", { dataTransfer: transfer, ...options });
      return !element.dispatchEvent(made);
    },
    { event, name, pixel: PIXEL },
  );
}

async function choose(page: Page, name: string, content: Buffer | string, mimeType = "text/plain"): Promise<void> {
  await chooser(page).setInputFiles({ name, mimeType, buffer: Buffer.from(content) });
}

test("an image is sent with the message and stays in the conversation", async () => {
  await script({ when: "what is on it", text: "A dot." });
  const page = await openPage();
  await choose(page, "dot.png", Buffer.from(PIXEL, "base64"), "image/png");
  await remove(page, "dot.png").waitFor();
  await ask(page, "what is on it?");
  await answer(page).getByText("A dot.").waitFor();
  await page.reload();
  await question(page).getByRole("img", { name: "dot.png", exact: true }).waitFor();
});

test("images can be pasted and dropped, and removed again", async () => {
  await script({ when: "what are they", text: "Dots." });
  const page = await openPage();
  await bring("paste", "pasted.png", composer(page));
  await remove(page, "pasted.png").waitFor();
  await bring("drop", "dropped.png", composer(page));
  await remove(page, "dropped.png").waitFor();
  await bring("drop", "wrong.png", composer(page));
  await remove(page, "wrong.png").click();
  await ask(page, "what are they?");
  await answer(page).getByText("Dots.").waitFor();
  await countOf(question(page).getByRole("img"), 2);
  const sent = await requestAbout("what are they");
  if (sent.split(PIXEL).length !== 3) throw new Error(`the model did not get two pictures: ${sent.slice(0, 400)}`);
});

test("a file dropped or pasted anywhere on the page is attached, and never replaces the page", async () => {
  await script({ when: "talk first", text: "Talked." });
  const page = await openPage();
  await ask(page, "talk first");
  await answer(page).getByText("Talked.").waitFor();
  expect(await bring("drop", "on-thread.png", answer(page))).toBe(true);
  await remove(page, "on-thread.png").waitFor();
  expect(await bring("drop", "on-list.png", page.getByRole("complementary").first())).toBe(true);
  await remove(page, "on-list.png").waitFor();
  await bring("paste", "anywhere.png", page.locator("body"));
  await remove(page, "anywhere.png").waitFor();
  await page.keyboard.press("Control+k");
  expect(await bring("drop", "behind.png", page.getByRole("dialog"))).toBe(true);
  await page.keyboard.press("Escape");
  await countOf(remove(page, "behind.png"), 0);
});

test("dragging files over the page says where they go", async () => {
  const page = await openPage();
  const drag = (type: string, relatedTarget: null) =>
    page.evaluate(
      ({ type, relatedTarget }) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(["x"], "x.txt"));
        const options = { bubbles: true, cancelable: true, dataTransfer: transfer, relatedTarget };
        document.body.dispatchEvent(new DragEvent(type, options));
      },
      { type, relatedTarget },
    );
  await drag("dragover", null);
  await page.getByText("Drop files to attach them").waitFor();
  await drag("dragleave", null);
  await countOf(page.getByText("Drop files to attach them"), 0);
});

test("a table that is pasted stays text, although a picture of it comes along", async () => {
  const page = await openPage();
  await composer(page).focus();
  const isKept = await composer(page).evaluate((field) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["x"], "image.png", { type: "image/png" }));
    transfer.setData("text/plain", "1\t2");
    const event = new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true });
    return field.dispatchEvent(event);
  });
  expect(isKept).toBe(true);
  await countOf(page.getByRole("list", { name: "Attached files", exact: true }), 0);
});

test("pictures open above the page, by mouse and by keyboard, before and after they are sent", async () => {
  await script({ when: "compare them", text: "Equal." });
  const page = await openPage();
  for (const name of ["one.png", "two.png"]) await bring("drop", name, composer(page));
  await page.getByRole("img", { name: "two.png", exact: true }).click();
  await lightbox(page, "two.png").waitFor();
  await page.keyboard.press("Escape");
  await countOf(page.getByRole("dialog"), 0);
  await ask(page, "compare them");
  await answer(page).getByText("Equal.").waitFor();

  const picture = question(page).getByRole("button", { name: "one.png", exact: true });
  await picture.focus();
  await page.keyboard.press("Enter");
  await lightbox(page, "one.png").getByText("1 of 2").waitFor();
  expect(await findings(page)).toEqual([]);
  await page.keyboard.press("ArrowRight");
  await lightbox(page, "two.png").getByText("2 of 2").waitFor();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("button", { name: "Show in full size", exact: true }).click();
  await page.getByRole("button", { name: "Fit to the window", exact: true }).waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download", exact: true }).click();
  expect((await downloading).suggestedFilename()).toBe("one.png");
  await page.keyboard.press("Escape");
  await countOf(page.getByRole("dialog"), 0);
  await expect.poll(() => picture.evaluate((element) => element === document.activeElement)).toBe(true);
});

test("a text that was sent can be opened and downloaded, never as a page with script", async () => {
  await script({ when: "read it", text: "Read." });
  const page = await openPage();
  await choose(page, "page.html", "<script>document.title = 'run'</script>", "text/html");
  await choose(page, "plan.md", "# Plan", "");
  await remove(page, "plan.md").waitFor();
  await ask(page, "read it");
  await answer(page).getByText("Read.").waitFor();
  const opening = page.waitForEvent("popup");
  await question(page)
    .getByRole("button", { name: /page\.html/ })
    .click();
  const opened = await opening;
  await opened.getByText("<script>").waitFor();
  expect(await opened.title()).not.toBe("run");
  await opened.close();
  const downloading = page.waitForEvent("download");
  await question(page).getByRole("link", { name: "Download plan.md", exact: true }).click();
  expect(readFileSync(await (await downloading).path(), "utf8")).toBe("# Plan");
});

test("files that are too large, too many or of no use are refused in words, and the message can still be sent", async () => {
  await script({ when: "without it", text: "Fine." });
  const page = await openPage();
  const refusal = (text: string) => page.getByRole("alert").getByText(text).waitFor();
  await choose(page, "huge.bin", Buffer.alloc(8_000_001), "application/octet-stream");
  await refusal("huge.bin is larger than 8.0 MB.");
  await choose(page, "all.zip", Buffer.from([80, 75, 3, 4, 0, 0]), "application/zip");
  await refusal("all.zip cannot be read by models. Attach text, pictures, PDF, sound or video.");
  await choose(page, "half.txt", "x".repeat(7_500_000));
  await remove(page, "half.txt").waitFor();
  await choose(page, "other.txt", "x".repeat(7_500_000));
  await refusal("other.txt was not attached: the files of a message may not exceed 14 MB in total.");
  await remove(page, "half.txt").click();
  const many = Array.from({ length: 21 }, (_, at) => ({
    name: `${at}.txt`,
    mimeType: "text/plain",
    buffer: Buffer.from("x"),
  }));
  await chooser(page).setInputFiles(many);
  await refusal("A message may have at most 20 files.");
  await countOf(page.getByRole("button", { name: /^Remove/ }), 20);
  for (let left = 20; left > 0; left--)
    await page
      .getByRole("button", { name: /^Remove/ })
      .first()
      .click();
  await ask(page, "then without it");
  await answer(page).getByText("Fine.").waitFor();
  await countOf(page.getByRole("alert"), 0);
});
