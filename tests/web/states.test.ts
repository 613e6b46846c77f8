/** The looks of ten states: as in the pictures that are kept, and without findings of the accessibility checker. */

import { expect, test } from "vitest";
import { findings } from "./axe";
import { openPage, useBrowser } from "./harness";
import { expectPicture } from "./picture";
import { STATES } from "./states";

useBrowser();

const SIZES = [
  [390, 844],
  [1024, 768],
  [1440, 900],
] as const;

test.each(STATES)("the state $name looks as in its picture, and is accessible at three sizes", async (state) => {
  const page = await openPage(state.options);
  await state.enter(page);
  await expectPicture(page, state.name);
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    expect(await findings(page), `${width} px`).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  }
});
