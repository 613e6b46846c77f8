/** How smooth the page stays while 10 000 tokens or 300 tool calls stream in: `python -m benchmarks.web`. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { answer, ask, call, fillChat, openPage, script, useBrowser } from "./harness";

useBrowser();

const TOKENS = 10_000;
const LIMIT = 180_000;
const MESSAGES = 5000;
const CALLS = 300;

/** Text with everything that is expensive to render: lists, code, tables and formulas, in pieces of four characters. */
function longText(characters: number): string {
  const section = (number: number) =>
    [
      `## Part ${number}`,
      "A joint holds because its **parts fit**, not because of the glue; `slope` decides how well.",
      "- mark the tails first\n- saw on the waste side\n- test the fit *once*",
      "```python\ndef slope(hardwood: bool) -> float:\n    return 1 / (8 if hardwood else 6)\n```",
      "| joint | minutes |\n|---|---:|\n| dovetail | 45 |\n| box | 25 |",
    ].join("\n\n");
  let text = "";
  for (let number = 1; text.length < characters; number++) text += `${section(number)}\n\n`;
  return `${text.slice(0, characters)}\n\nTHE END`;
}

/** Records the length of every frame, and of every task that blocks the page. */
async function watchFrames(page: Page): Promise<() => Promise<{ frames: number[]; tasks: number[] }>> {
  await page.evaluate(() => {
    const seen = { frames: [] as number[], tasks: [] as number[], isOn: true };
    let last = performance.now();
    const tick = (now: number) => {
      seen.frames.push(now - last);
      last = now;
      if (seen.isOn) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.tasks.push(entry.duration);
    }).observe({ entryTypes: ["longtask"] });
    Object.assign(window, { seen });
  });
  return () =>
    page.evaluate(() => {
      const { seen } = window as unknown as { seen: { frames: number[]; tasks: number[]; isOn: boolean } };
      seen.isOn = false;
      return { frames: seen.frames, tasks: seen.tasks };
    });
}

/** Seconds of processor time that the page has used, by purpose. */
async function watchWork(page: Page): Promise<() => Promise<Record<string, number>>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    const wanted = ["TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];
    return Object.fromEntries(
      metrics.filter(({ name }) => wanted.includes(name)).map(({ name, value }) => [name, Number(value.toFixed(2))]),
    );
  };
}

function print(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

function quantile(values: number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;
}

test("ten thousand tokens", { timeout: LIMIT }, async () => {
  await script({ when: "write a book", text: longText(TOKENS * 4), cut: 4, delay: 0.0005 });
  const page = await openPage({ isMoving: true });
  const stop = await watchFrames(page);
  const work = await watchWork(page);
  const start = performance.now();
  await ask(page, "write a book");
  await answer(page).getByText("THE END").waitFor({ timeout: LIMIT });
  const seconds = (performance.now() - start) / 1000;
  const { frames, tasks } = await stop();
  const figures = {
    tokens: TOKENS,
    seconds: Number(seconds.toFixed(1)),
    frames: frames.length,
    "median frame, ms": Number(quantile(frames, 0.5).toFixed(1)),
    "95 % of frames below, ms": Number(quantile(frames, 0.95).toFixed(1)),
    "99 % of frames below, ms": Number(quantile(frames, 0.99).toFixed(1)),
    "longest frame, ms": Number(Math.max(...frames).toFixed(1)),
    "tasks above 50 ms": tasks.length,
    "seconds of work": await work(),
  };
  print(figures);
  expect(quantile(frames, 0.5)).toBeLessThan(50);
});

/** A run of many calls: each turn has some, and the last result of a turn brings the next one. */
function callScript(calls: number, perTurn: number): object[] {
  const turns = calls / perTurn;
  const callsOf = (turn: number) =>
    Array.from({ length: perTurn }, (_, place) =>
      place < perTurn - 1
        ? call("read_file", { path: "agents/scribe.md" })
        : call("calculate", { expression: `770000 + ${turn}` }),
    );
  const replies = Array.from({ length: turns }, (_, turn) => ({
    when: turn === 0 ? "work through it" : String(770000 + turn - 1),
    reasoning: "The next ones.",
    tool_calls: callsOf(turn),
  }));
  return [...replies, { when: String(770000 + turns - 1), text: longText(8000), cut: 4, delay: 0.001 }];
}

test("three hundred tool calls", { timeout: LIMIT }, async () => {
  await script(...callScript(CALLS, 15));
  const page = await openPage({ isMoving: true });
  const stop = await watchFrames(page);
  const work = await watchWork(page);
  const start = performance.now();
  await ask(page, "work through it");
  await answer(page).getByText("THE END").waitFor({ timeout: LIMIT });
  const seconds = (performance.now() - start) / 1000;
  const { frames, tasks } = await stop();
  const workSeconds = await work();
  const stopScrolling = await watchFrames(page);
  await answer(page)
    .getByRole("button", { name: /^Read \d+ file/ })
    .click();
  const column = page.getByRole("main").locator(".overflow-y-auto").first();
  await column.evaluate((element) => element.scrollTo(0, 0));
  for (let step = 0; step < 60; step++) await column.evaluate((element) => element.scrollBy(0, 150));
  const scrolling = await stopScrolling();
  print({
    calls: CALLS,
    seconds: Number(seconds.toFixed(1)),
    frames: frames.length,
    "median frame, ms": Number(quantile(frames, 0.5).toFixed(1)),
    "95 % of frames below, ms": Number(quantile(frames, 0.95).toFixed(1)),
    "99 % of frames below, ms": Number(quantile(frames, 0.99).toFixed(1)),
    "longest frame, ms": Number(Math.max(...frames).toFixed(1)),
    "tasks above 50 ms": tasks.length,
    "seconds of work": workSeconds,
    "median frame with all steps open, ms": Number(quantile(scrolling.frames, 0.5).toFixed(1)),
    "95 % of them below, ms": Number(quantile(scrolling.frames, 0.95).toFixed(1)),
  });
  expect(quantile(frames, 0.5)).toBeLessThan(50);
});

test("five thousand messages", { timeout: LIMIT }, async () => {
  const path = await fillChat(MESSAGES / 2);
  const page = await openPage();
  const end = answer(page).last().getByText("parts fit").first();
  const row = page.getByRole("navigation").getByRole("button", { name: "filler 1", exact: true });
  await row.waitFor();
  const clicked = performance.now();
  await row.click();
  await end.waitFor();
  const opened = performance.now() - clicked;
  const began = performance.now();
  await page.reload();
  await end.waitFor();
  const reloaded = performance.now() - began;
  const jumped = performance.now();
  await page.goto(new URL(`${path}/q1`, page.url()).href);
  await page.getByRole("article").getByText("filler 1", { exact: true }).waitFor();
  const reached = performance.now() - jumped;
  await page.goto(new URL(path, page.url()).href);
  await page.reload();
  await end.waitFor();
  const stop = await watchFrames(page);
  const work = await watchWork(page);
  const column = page.getByRole("main").locator(".overflow-y-auto");
  for (let step = 0; step < 60; step++) await column.evaluate((element) => element.scrollBy(0, -600));
  const { frames, tasks } = await stop();
  print({
    messages: MESSAGES,
    "until it is shown, ms": Math.round(opened),
    "until a new page shows it, ms": Math.round(reloaded),
    "until its first message is shown, ms": Math.round(reached),
    "median frame while scrolling, ms": Number(quantile(frames, 0.5).toFixed(1)),
    "95 % of frames below, ms": Number(quantile(frames, 0.95).toFixed(1)),
    "longest frame, ms": Number(Math.max(...frames).toFixed(1)),
    "tasks above 50 ms": tasks.length,
    "seconds of work": await work(),
  });
  expect(quantile(frames, 0.5)).toBeLessThan(50);
});
