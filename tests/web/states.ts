/** Ten states of the page that are looked at: for pictures that are compared, and for the accessibility checker. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { address, answer, ask, call, composer, idle, type PageOptions, script } from "./harness";

export interface State {
  name: string;
  options?: PageOptions;
  /** Brings a new page into the state. */
  enter: (page: Page) => Promise<void>;
}

const NOW = Date.parse("2026-05-20T10:00:00Z");

const PLAN = [
  "## A dovetail drawer",
  "It holds by its **shape**, not by glue. Cut `1:8` for hardwood:",
  "1. Mark the tails first.\n2. Saw on the waste side.\n3. Test the fit *once*.",
  "| wood | slope | minutes |\n|---|---:|---:|\n| oak | 1:8 | 45 |\n| pine | 1:6 | 30 |",
].join("\n\n");

const PLAN_ZH = [
  "## 燕尾榫抽屉",
  "它靠**形状**锁住木板，不靠胶水。硬木坡度取 `1:8`：",
  "1. 先画燕尾，再画插榫。\n2. 在余料一侧下锯。\n3. 只试装*一次*。",
  "| 木材 | 坡度 | 分钟 |\n|---|---:|---:|\n| 橡木 | 1:8 | 45 |\n| 松木 | 1:6 | 30 |",
].join("\n\n");

const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Waits for the chat of a question in the list, which comes with the feed; a phone does not show it. */
async function listed(page: Page, question: string): Promise<void> {
  const list = page.getByRole("region", { name: /^(Today|今天)$/u });
  if ((page.viewportSize()?.width ?? 0) > 600) await list.getByText(question).first().waitFor();
}

async function planDrawer(page: Page): Promise<void> {
  await script(
    {
      when: "Plan a drawer",
      reasoning: "The slope depends on the wood.",
      tool_calls: [call("show", { what: "table" }), call("calculate", { expression: "22 / 8" })],
    },
    { when: "2.75", text: PLAN, usage: { input_tokens: 812, output_tokens: 164 } },
  );
  await ask(page, "Plan a drawer with dovetails, with times for oak and pine.");
  await answer(page).getByText("A dovetail drawer").waitFor();
  await idle(page);
  await listed(page, "Plan a drawer with dovetails");
}

async function planChineseDrawer(page: Page): Promise<void> {
  await script(
    { when: "做一个抽屉", tool_calls: [call("calculate", { expression: "22 / 8" })] },
    { when: "2.75", text: PLAN_ZH, usage: { input_tokens: 812, output_tokens: 164 } },
  );
  const field = page.getByRole("textbox", { name: "消息", exact: true });
  await field.fill("做一个抽屉，比较橡木和松木。");
  await field.press("Enter");
  await page.getByText("燕尾榫抽屉").waitFor();
  await idle(page);
  await listed(page, "做一个抽屉");
}

async function work(page: Page): Promise<void> {
  await script(
    {
      when: "Count the boards",
      reasoning: "Both at once.",
      tool_calls: [
        call("show", { what: "text" }),
        call("count_up", { gate: "boards" }),
        call("summarizer", { text: "The cutting list" }),
      ],
    },
    { when: "The cutting list", steps: ["Four boards of oak, two of", { hold: "list" }, " pine."] },
  );
  await ask(page, "Count the boards, and sum up the cutting list.");
  await answer(page).getByText("at 2").waitFor();
  await answer(page).getByText("Four boards of oak, two of").waitFor();
  await listed(page, "Count the boards");
}

async function approve(page: Page): Promise<void> {
  const lines = ["# Drawer", "", "- wood: oak", "- slope: 1:6", "- glue: hide glue", "- finish: oil"];
  writeFileSync(join(address.workspace, "drawer.md"), `${lines.join("\n")}\n`);
  const content = `${lines.join("\n").replace("1:6", "1:8").replace("oil", "oil, then wax")}\n`;
  await script({
    when: "Correct the plan",
    text: "The slope of hardwood is 1:8, so I change the plan.",
    tool_calls: [call("write_file", { path: "drawer.md", content })],
  });
  await ask(page, "Correct the plan in drawer.md.");
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  await page.locator("[data-diff=added]").first().waitFor();
  await listed(page, "Correct the plan");
}

async function answerQuestions(page: Page): Promise<void> {
  const questions = [
    {
      question: "Which wood?",
      choices: [
        { label: "Oak", description: "Heavy and strong" },
        { label: "Pine", description: "Light, and easy to work" },
      ],
    },
    { question: "Which tools do you have?", choices: ["Saw", "Plane", "Chisel"], multiple: true, free_text: false },
    { question: "Anything else?" },
  ];
  await script({ when: "Build a table", tool_calls: [call("ask_user", { questions })] });
  await ask(page, "Build a table with me.");
  const form = page.getByRole("group", { name: "A question for you", exact: true });
  await form.getByRole("radio", { name: "Oak" }).check();
  await form.getByRole("checkbox", { name: "Saw" }).check();
  await listed(page, "Build a table");
}

/** The first screen shows examples of what its agent can do, and the list of chats, which comes with the feed. */
async function awaitExamples(page: Page): Promise<void> {
  await page.getByText("Run a command", { exact: true }).waitFor();
  const list = page.getByText("Your chats will be listed here.").or(page.getByRole("region", { name: "Today" }));
  await list.first().waitFor();
}

async function compose(page: Page): Promise<void> {
  await awaitExamples(page);
  await page.locator("input[type=file]").setInputFiles([
    { name: "joint.png", mimeType: "image/png", buffer: PICTURE },
    { name: "boards.csv", mimeType: "text/csv", buffer: Buffer.from("wood,width\noak,220\n") },
  ]);
  await page.getByText("boards.csv").waitFor();
  await composer(page).pressSequentially("Compare these boards, @s");
  await page.getByRole("listbox", { name: "Suggestions", exact: true }).waitFor();
}

/** Answers some routes with fixed data at a fixed time: what runs cost depends on all that was done before. */
async function fix(page: Page, routes: Record<string, unknown>): Promise<void> {
  await page.clock.setFixedTime(NOW);
  for (const [path, json] of Object.entries(routes)) {
    await page.route(
      (url) => url.pathname === path,
      (route) => {
        const by = new URL(route.request().url()).searchParams.get("by");
        const body = by === null ? json : (json as Record<string, unknown>)[by];
        return route.fulfill({ json: body });
      },
    );
  }
}

const usage = (cost: number, tokens: number, runs: number) => ({
  cost,
  input_tokens: tokens,
  output_tokens: Math.round(tokens / 8),
  cached_tokens: 0,
  unpriced_tokens: 0,
  runs,
});

function runOf(place: number, title: string, state: string, reason: string | null, cost: number): object {
  return {
    id: `run_${place}`,
    owner: "local",
    agent: place % 3 === 2 ? "scribe" : "assistant",
    model: "openai:gpt-5-mini",
    session_id: `s${place}`,
    message_id: `m${place}`,
    title,
    state,
    reason,
    usage: usage(cost, cost * 400_000, 1),
    duration: 4 + place * 9,
    created_at: new Date(NOW - place * 47 * 60_000).toISOString(),
  };
}

async function listRuns(page: Page): Promise<void> {
  const runs = [
    runOf(0, "Count the boards", "running", null, 0.012),
    runOf(1, "Correct the plan", "waiting", null, 0.004),
    runOf(2, "Sum up the cutting list", "ended", "goal", 0.31),
    runOf(3, "Compare three wood glues", "ended", "goal", 0.052),
    runOf(4, "Order hinges", "ended", "error", 0.008),
    runOf(5, "Draw the side view", "ended", "cancelled", 0.021),
  ];
  const totals = usage(0.407, 162_800, 6);
  const choices = { agents: ["assistant", "scribe"], models: [], owners: [], owner: "local", sees_all: false };
  await fix(page, { "/api/v1/runs": { runs, totals, cursor: null }, "/api/v1/runs/choices": choices });
  await page.goto(`${address.url}/#/room/runs`);
  await page.getByText("Compare three wood glues").first().waitFor();
}

async function showCosts(page: Page): Promise<void> {
  const days = [0.4, 0.9, 1.3, 0.2, 0, 0.7, 1.1, 1.9, 0.8, 0.5].map((cost, place) => ({
    key: new Date(NOW - (9 - place) * 86_400_000).toISOString().slice(0, 10),
    ...usage(cost, cost * 400_000, Math.ceil(cost * 10)),
  }));
  const total = usage(7.8, 3_120_000, 81);
  const row = (key: string, share: number) => ({
    key,
    ...usage(7.8 * share, 3_120_000 * share, Math.round(81 * share)),
  });
  const by = (rows: object[]) => ({ from: "2026-05-11", to: "2026-05-20", rows, total });
  await fix(page, {
    "/api/v1/usage": {
      day: by(days),
      model: by([row("openai:gpt-5", 0.75), row("openai:gpt-5-mini", 0.25)]),
      agent: by([row("assistant", 0.8), row("scribe", 0.2)]),
      owner: by([row("local", 1)]),
    },
    "/api/v1/usage/today": {
      total: usage(0.5, 200_000, 5),
      limits: [{ scope: "owner", name: "local", cost: 0.5, calls: 12, limit: { cost: 2, calls: null } }],
    },
  });
  await page.goto(`${address.url}/#/room/costs`);
  await page.getByText("openai:gpt-5-mini").first().waitFor();
}

const WIDE = { width: 1200, height: 760, timeZone: "UTC" };

const ALL: State[] = [
  { name: "empty", enter: awaitExamples },
  { name: "answer", enter: planDrawer },
  { name: "work", enter: work },
  { name: "approval", enter: approve },
  { name: "question", enter: answerQuestions },
  { name: "composer", enter: compose },
  { name: "phone", options: { width: 390, height: 760 }, enter: planDrawer },
  { name: "dark-chinese", options: { isDark: true, locale: "zh-CN" }, enter: planChineseDrawer },
  { name: "runs", enter: listRuns },
  { name: "costs", enter: showCosts },
];

/** Brings a page into the state of this name. */
export async function enter(page: Page, name: string): Promise<void> {
  await ALL.find((state) => state.name === name)?.enter(page);
}

export const STATES = ALL.map((state) => ({ ...state, options: { ...WIDE, ...state.options } }));
