/** Loads one module of an extension folder; itself loaded only if there is one. */

import * as React from "react";
import { type CardOfLook, describe, type Look } from "@/features/extensions/look";
import type { BrowserTool, Dovetail } from "@/protocol/dovetail";

/** How long a module may take to load and to register, in milliseconds: all others wait for it. */
const PATIENCE = 10_000;

/** Loads a module and lets it register; never rejects, and never waits for long. */
export async function loadLook(folder: string, url: string, load: (url: string) => Promise<unknown>): Promise<Look> {
  const cards = new Map<string, CardOfLook>();
  const browserTools = new Map<string, BrowserTool>();
  try {
    const dovetail = makeDovetail(folder, cards, browserTools);
    await inTime(load(url).then((module) => register(module, dovetail)));
  } catch (error) {
    return { folder, url, cards: new Map(), browserTools: new Map(), error: describe(error) };
  }
  return { folder, url, cards, browserTools, error: null };
}

async function register(module: unknown, dovetail: Dovetail): Promise<void> {
  const { default: found } = module as { default?: unknown };
  if (typeof found !== "function") {
    throw new TypeError("The module has no default export: write `export default function register(dovetail) {…}`.");
  }
  await found(dovetail);
}

function inTime(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    const late = () => reject(new Error(`The module has not registered within ${PATIENCE / 1000} seconds.`));
    timer = setTimeout(late, PATIENCE);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

function makeDovetail(folder: string, cards: Map<string, CardOfLook>, tools: Map<string, BrowserTool>): Dovetail {
  return {
    version: 1,
    folder,
    React,
    card: (toolName, Card, options = {}) => {
      if (!isComponent(Card)) throw new TypeError(`The card for "${toolName}" is not a component.`);
      cards.set(toolName, { Card, states: options.states ?? ["done"] });
    },
    browserTool: (toolName, handler) => {
      if (typeof handler !== "function") throw new TypeError(`The handler of "${toolName}" is not a function.`);
      tools.set(toolName, handler);
    },
  };
}

/** A function, or what `React.memo`, `lazy` and `forwardRef` return. */
function isComponent(value: unknown): boolean {
  return typeof value === "function" || (typeof value === "object" && value !== null && "$$typeof" in value);
}
