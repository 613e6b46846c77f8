/**
 * The tools that run in the browser. To add one, declare it on the server with `needs_tab` and register a
 * handler with the same name here that returns `{ status, output }`.
 */

import type { FrontendToolExecutor } from "@/features/browser-tools/executor";
import type { PanelStack } from "@/features/browser-tools/panel-stack";
import { record, text } from "@/protocol/shapes";

export function registerDefaultFrontendToolHandlers(executor: FrontendToolExecutor, stack: PanelStack): void {
  executor.register("open-url", async ({ input }) => {
    const { url: wanted, title } = record(input);
    const url = normalizeUrl(wanted);
    if (url === null) return { status: "failed", errorText: `Invalid URL ${JSON.stringify(wanted)}.` };
    const viewKey = stack.push(url, text(title) || new URL(url).hostname);
    const note = (await stack.check(viewKey)) ? {} : { note: NOT_SHOWN };
    return { status: "success", output: { url, viewKey, ...note } };
  });
}

const NOT_SHOWN =
  "This site does not allow to be shown inside another page. The user sees a link that opens it in a tab of its own.";

/** What a call of `open-url` does, in the model's words, and where it leads. */
export interface OpenedPage {
  action: string;
  url: string;
  title: string;
}

/** The page that a call leads to; null if it cannot be opened. */
export function readOpenUrl(input: unknown): OpenedPage | null {
  const { actionName, url: wanted, title } = record(input);
  const url = normalizeUrl(wanted);
  if (url === null) return null;
  return { action: text(actionName).trim(), url, title: text(title) || new URL(url).hostname };
}

/** A URL that may be opened, including its scheme; null for anything else. */
export function normalizeUrl(value: unknown): string | null {
  if (typeof value !== "string" || value.trim() === "") return null;
  const wanted = value.trim();
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(wanted) && !/^(localhost|[^/:]+\.[^/:]+):\d+(\/|$)/.test(wanted);
  try {
    const url = new URL(hasScheme ? wanted : `https://${wanted}`);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}
