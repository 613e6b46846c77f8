/** What an answer can contain besides text: diagrams, footnotes, parts to unfold, pictures. */

import { expect, test } from "vitest";
import { answer, ask, openPage, release, script, useBrowser } from "./harness";

useBrowser();

const FLOW = "```mermaid\nflowchart LR\n  Mark --> Saw --> Fit{Fits?}\n  Fit -- no --> Saw\n```";

test("a diagram is drawn when it is complete, under the content policy of the page", async () => {
  await script({ when: "plan the joint", steps: [FLOW.slice(0, -4), { hold: "flow" }, "\n```\n\nThat is it."] });
  const page = await openPage();
  await ask(page, "plan the joint");
  await answer(page).locator(".code").getByText("flowchart LR").waitFor();
  await release("flow");
  const picture = answer(page).getByRole("img", { name: "Diagram", exact: true });
  await expect
    .poll(() => picture.evaluate((element) => (element as HTMLImageElement).naturalWidth))
    .toBeGreaterThan(100);
  await answer(page).getByRole("button", { name: "Show the source", exact: true }).click();
  await answer(page).locator(".code").getByText("flowchart LR").waitFor();
  await answer(page).getByRole("button", { name: "Show the diagram", exact: true }).click();
  await picture.waitFor();
});

test("a diagram that cannot be drawn shows its source and says why", async () => {
  await script({ when: "draw nonsense", text: "```mermaid\nflowchart LR\n  A -->\n```\n\nDone." });
  const page = await openPage();
  await ask(page, "draw nonsense");
  await answer(page)
    .getByText(/^This diagram cannot be drawn\. /)
    .waitFor();
  await answer(page).locator(".code").getByText("A -->").waitFor();
});

test("footnotes lead there and back, and parts unfold", async () => {
  const text =
    "It holds.[^1]\n\n<details>\n<summary>Why</summary>\n\n- the **shape**\n\n</details>\n\n[^1]: By friction, too.";
  await script({ when: "does it hold", text });
  const page = await openPage();
  await ask(page, "does it hold");
  const note = answer(page).getByRole("note", { name: "Footnote 1", exact: true });
  await note.getByText("By friction, too.").waitFor();
  await answer(page).getByRole("button", { name: "Footnote 1", exact: true }).click();
  await expect.poll(() => note.evaluate((element) => element === document.activeElement)).toBe(true);
  await answer(page).getByRole("button", { name: "Back to the text at footnote 1", exact: true }).click();
  expect(page.url()).toContain("#/s/");
  expect(await answer(page).getByText("the shape").isVisible()).toBe(false);
  await answer(page).getByText("Why", { exact: true }).click();
  await answer(page).getByText("the shape").waitFor();
});

test("a picture inside the text is shown, one from another site is a link that loads nothing", async () => {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const text = `![Pixel](data:image/png;base64,${pixel})\n\n![A joint](https://example.org/joint.png)`;
  await script({ when: "show pictures", text });
  const page = await openPage();
  await ask(page, "show pictures");
  const picture = answer(page).getByRole("img", { name: "Pixel", exact: true });
  await expect.poll(() => picture.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
  const link = answer(page).getByRole("link", { name: "A joint (Image from example.org)", exact: true });
  expect(await link.getAttribute("href")).toBe("https://example.org/joint.png");
});
