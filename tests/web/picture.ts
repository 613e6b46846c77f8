/** Pictures of the page that are kept in the repository, and compared with a tolerance. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pixelmatch from "pixelmatch";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { loadChineseFont } from "./harness";

const KEPT = join(import.meta.dirname, "pictures");
const RESULTS = join(import.meta.dirname, "..", "..", "web", "test-results");
/** The share of pixels that may differ: letters are smoothed differently on other machines. */
const TOLERANCE = 0.0005;
const HOW =
  "If the page is meant to look like this, run `UPDATE_PICTURES=1 npm run test:browser -- states` and commit.";

/** Compares the page with the picture of this name; a difference is written to `web/test-results`. */
export async function expectPicture(page: Page, name: string): Promise<void> {
  const taken = PNG.sync.read(await take(page));
  const kept = join(KEPT, `${name}.png`);
  if (process.env["UPDATE_PICTURES"]) return write(kept, taken);
  if (!existsSync(kept)) {
    write(join(RESULTS, `${name}.png`), taken);
    throw new Error(`The picture ${name} does not exist; the new one is in web/test-results. ${HOW}`);
  }
  const expected = PNG.sync.read(readFileSync(kept));
  const { width, height } = expected;
  if (taken.width !== width || taken.height !== height) {
    write(join(RESULTS, `${name}.png`), taken);
    throw new Error(`The picture ${name} is ${taken.width}×${taken.height}, not ${width}×${height}. ${HOW}`);
  }
  const difference = new PNG({ width, height });
  const count = pixelmatch(expected.data, taken.data, difference.data, width, height, { threshold: 0.15 });
  if (count <= width * height * TOLERANCE) return;
  write(join(RESULTS, `${name}.png`), taken);
  write(join(RESULTS, `${name}-difference.png`), difference);
  const share = ((100 * count) / (width * height)).toFixed(1);
  throw new Error(`The picture ${name} differs in ${share} % of its pixels: see web/test-results. ${HOW}`);
}

function write(path: string, picture: PNG): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, PNG.sync.write(picture, { deflateLevel: 9, colorType: 2 }));
}

async function take(page: Page): Promise<Buffer> {
  await loadChineseFont(page);
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.fonts.ready);
  await page.evaluate(fixTimes);
  return page.screenshot({ animations: "disabled" });
}

/** Replaces the times in the texts of the page, which differ from run to run. */
function fixTimes(): void {
  // A step that was quick does not show its time at all.
  for (const element of document.querySelectorAll<HTMLElement>("article .tabular-nums")) {
    element.hidden = /^(· )?\d+(\.\d+)? (ms|s|毫秒|秒)$/u.test(element.textContent);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.nodeValue ?? "";
    const fixed = text
      .replace(/\d+(\.\d+)?(?= ?(ms|s|min|毫秒|秒|分钟)(?!\p{Letter}))/gu, "1")
      .replace(/ ms(?!\p{Letter})/gu, " s")
      .replace(/毫秒/gu, "秒");
    if (fixed !== text) node.nodeValue = fixed;
  }
}
