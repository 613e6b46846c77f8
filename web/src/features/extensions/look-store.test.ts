import { expect, test, vi } from "vitest";
import { type ActiveCard, type LookBackend, LookStore } from "@/features/extensions/look-store";
import type { BrowserTool, Dovetail } from "@/protocol/dovetail";

const WEATHER = "/ext/weather/1/card.js";
const Forecast = () => null;

/** A server with modules, and a page that keeps what is applied. */
class Desk implements LookBackend {
  listed: Record<string, string[]> = {};
  modules: Record<string, unknown> = {};
  loaded: string[] = [];
  styles = new Set<string>();
  cards: ReadonlyMap<string, ActiveCard> = new Map();
  browserTools: ReadonlyMap<string, BrowserTool> = new Map();
  /** Offers a module that registers with this function. */
  offer(folder: string, url: string, register: unknown): void {
    this.listed = { ...this.listed, [folder]: [...(this.listed[folder] ?? []), url] };
    this.modules[url] = { default: register };
  }
  list = async () => this.listed;
  load = async (url: string) => {
    this.loaded.push(url);
    const found = this.modules[url.replace(/\?.*/, "")];
    if (found === undefined) throw new TypeError(`Failed to fetch ${url}`);
    return found;
  };
  link = (url: string) => {
    this.styles.add(url);
    return () => this.styles.delete(url);
  };
  apply: LookBackend["apply"] = (cards, browserTools) => Object.assign(this, { cards, browserTools });
}

const forecast = (dovetail: Dovetail) => dovetail.card("get_weather", Forecast);

test("a module registers cards and handlers of browser tools", async () => {
  const desk = new Desk();
  const seen: unknown[] = [];
  desk.offer("weather", WEATHER, async (dovetail: Dovetail) => {
    seen.push(dovetail.version, dovetail.folder, typeof dovetail.React.useState);
    dovetail.card("get_weather", Forecast, { states: ["running", "done"] });
    dovetail.browserTool("highlight", () => 3);
  });
  const store = new LookStore(desk);
  await store.refresh();
  expect(seen).toEqual([1, "weather", "function"]);
  expect(desk.cards.get("get_weather")?.states).toEqual(["running", "done"]);
  expect(desk.browserTools.get("highlight")?.({}, { toolName: "", callId: "", tabId: "" })).toBe(3);
  expect(store.read().faults).toEqual([]);
});

test("a changed module replaces the old one, and unchanged ones are not loaded again", async () => {
  const desk = new Desk();
  desk.offer("weather", WEATHER, forecast);
  desk.offer("dice", "/ext/dice/1/dice.js", (dovetail: Dovetail) => dovetail.card("roll_dice", Forecast));
  const store = new LookStore(desk);
  await store.refresh();
  const { weather: _, ...others } = desk.listed;
  desk.listed = others;
  desk.offer("weather", "/ext/weather/2/card.js", (dovetail: Dovetail) => dovetail.card("get_forecast", Forecast));
  await store.refresh();
  expect([...desk.cards.keys()].sort()).toEqual(["get_forecast", "roll_dice"]);
  expect(desk.loaded).toEqual([WEATHER, "/ext/dice/1/dice.js", "/ext/weather/2/card.js"]);
});

test("a folder that went away takes its cards and styles along", async () => {
  const desk = new Desk();
  desk.offer("weather", WEATHER, forecast);
  desk.listed["weather"]?.push("/ext/weather/1/card.css");
  const store = new LookStore(desk);
  await store.refresh();
  expect([...desk.styles]).toEqual(["/ext/weather/1/card.css"]);
  desk.listed = {};
  await store.refresh();
  expect([desk.cards.size, desk.styles.size]).toEqual([0, 0]);
});

test.each([
  ["has no default export", 42],
  [
    "the kettle is cold",
    () => {
      throw new Error("the kettle is cold");
    },
  ],
  ['TypeError: The card for "x" is not a component.', (dovetail: Dovetail) => dovetail.card("x", 1 as never)],
  ['TypeError: The handler of "x" is not a function.', (d: Dovetail) => d.browserTool("x", "y" as never)],
])("a broken module is reported with its file: %s", async (message, register) => {
  const desk = new Desk();
  desk.offer("broken", "/ext/broken/1/sub%20card.js", register);
  desk.offer("weather", WEATHER, forecast);
  const store = new LookStore(desk);
  await store.refresh();
  const [fault] = store.read().faults;
  expect(fault?.file).toBe("extensions/broken/web/sub card.js");
  expect(fault?.message).toContain(message);
  expect([...desk.cards.keys()]).toEqual(["get_weather"]);
});

test("a module that could not be fetched is tried again under another address", async () => {
  const desk = new Desk();
  desk.listed = { weather: [WEATHER] };
  const store = new LookStore(desk);
  await store.refresh();
  expect(store.read().faults).toHaveLength(1);
  desk.modules[WEATHER] = { default: forecast };
  await store.refresh();
  expect(store.read().faults).toEqual([]);
  expect(desk.loaded).toEqual([WEATHER, `${WEATHER}?attempt=1`]);
  expect(desk.cards.has("get_weather")).toBe(true);
});

test("of two folders that draw the same tool the first has it, and the second is reported", async () => {
  const desk = new Desk();
  desk.offer("a", "/ext/a/1/a.js", forecast);
  desk.offer("b", "/ext/b/1/b.js", forecast);
  const store = new LookStore(desk);
  await store.refresh();
  expect(store.read().faults).toEqual([
    { folder: "b", file: "extensions/b/web/b.js", message: 'The card for "get_weather" comes from folder "a".' },
  ]);
});

test("a card that cannot be drawn is reported once", async () => {
  const desk = new Desk();
  desk.offer("weather", WEATHER, forecast);
  const store = new LookStore(desk);
  await store.refresh();
  for (let time = 0; time < 2; time++) desk.cards.get("get_weather")?.onError(new TypeError("x is undefined"));
  expect(store.read().faults.map(({ message }) => message)).toEqual(["TypeError: x is undefined"]);
});

test("the error of a card stays reported when a broken module of another folder is tried again", async () => {
  const desk = new Desk();
  desk.offer("weather", WEATHER, forecast);
  desk.listed = { ...desk.listed, broken: ["/ext/broken/1/a.js"] };
  const store = new LookStore(desk);
  await store.refresh();
  desk.cards.get("get_weather")?.onError(new TypeError("x is undefined"));
  await store.refresh();
  expect(store.read().faults.map(({ folder }) => folder)).toEqual(["broken", "weather"]);
  desk.listed = { broken: ["/ext/broken/1/a.js"] };
  await store.refresh();
  expect(store.read().faults.map(({ folder }) => folder)).toEqual(["broken"]);
});

test("a module that never finishes to register does not hold up the others", async () => {
  vi.useFakeTimers();
  try {
    const desk = new Desk();
    desk.offer("endless", "/ext/endless/1/a.js", () => new Promise(() => {}));
    desk.offer("weather", WEATHER, forecast);
    const store = new LookStore(desk);
    const refreshed = store.refresh();
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(10_000);
    await refreshed;
    expect(desk.cards.has("get_weather")).toBe(true);
    expect(store.read().faults).toEqual([
      {
        folder: "endless",
        file: "extensions/endless/web/a.js",
        message: "The module has not registered within 10 seconds.",
      },
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test("a refresh that is asked for during another one is done after it", async () => {
  const desk = new Desk();
  const store = new LookStore(desk);
  const first = store.refresh();
  desk.offer("weather", WEATHER, forecast);
  await Promise.all([first, store.refresh(), store.refresh()]);
  expect(desk.cards.has("get_weather")).toBe(true);
  expect(desk.loaded).toEqual([WEATHER]);
});

test("what is loaded stays while the server cannot be reached", async () => {
  const desk = new Desk();
  desk.offer("weather", WEATHER, forecast);
  const store = new LookStore(desk);
  await store.refresh();
  desk.list = () => Promise.reject(new Error("offline"));
  await store.refresh();
  expect(desk.cards.has("get_weather")).toBe(true);
});
