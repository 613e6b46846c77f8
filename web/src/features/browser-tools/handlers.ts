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
    return { status: "success", output: { url, viewKey } };
  });
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
