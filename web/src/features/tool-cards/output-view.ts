/**
 * How an output is shown. A tool may choose by `type`: `{type: "markdown", text}`, `{type: "image", data, mimeType}`,
 * `{type: "file", name, url, size}`, `{type: "link", url, title, description}` or a chart (see `chart-view.ts`).
 * Everything else is recognized by its shape.
 */

import { type ChartView, readChart } from "@/features/tool-cards/chart-view";
import { isRecord, type Json, optionalText } from "@/protocol/shapes";
import { isDiff } from "@/ui/diff-lines";

export interface LinkView {
  url: string;
  title: string;
  description: string;
}

export type OutputView =
  | { shape: "none" }
  | { shape: "text"; text: string }
  | { shape: "markdown"; text: string }
  | { shape: "diff"; text: string; path: string; note: string }
  | { shape: "image"; address: string; name: string }
  | { shape: "table"; columns: string[]; rows: Json[] }
  | { shape: "chart"; chart: ChartView }
  | { shape: "file"; name: string; url: string; size: number | null; beginning: string }
  | { shape: "links"; links: LinkView[] }
  | { shape: "json"; value: unknown };

const MOST_COLUMNS = 12;

/** Chooses how to show an output. */
export function outputView(output: unknown): OutputView {
  if (output === null || output === undefined || output === "") return { shape: "none" };
  if (typeof output === "string") return textView(output);
  if (isRecord(output)) return recordView(output);
  return listView(output) ?? { shape: "json", value: output };
}

function textView(text: string): OutputView {
  if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(text)) return { shape: "image", address: text, name: "" };
  if (isDiff(text)) return { shape: "diff", text, path: "", note: "" };
  if (/^https?:\/\/\S+$/.test(text.trim())) return { shape: "links", links: [linkOf(text.trim(), {})] };
  if (/^\s*[[{]/.test(text)) {
    try {
      return outputView(JSON.parse(text));
    } catch {
      return { shape: "text", text };
    }
  }
  return { shape: isMarkdown(text) ? "markdown" : "text", text };
}

const SIGNS = [
  /^#{1,4} \S.*\n\n/m,
  /\*\*[^*\n]+\*\*/,
  /\[[^\]\n]+\]\(https?:[^)\n]+\)/,
  /^```\w*$/m,
  /^\|?[ :]*-{3,}[ :]*\|/m,
  /^[-*] \S.*\n[-*] \S/m,
];

/** Whether a text is meant as Markdown: one sign alone may be chance. */
function isMarkdown(text: string): boolean {
  return SIGNS.filter((sign) => sign.test(text)).length >= 2;
}

function recordView(output: Json): OutputView {
  const chosen = chosenView(output);
  if (chosen !== null) return chosen;
  if (typeof output["diff"] === "string" && output["diff"] !== "") {
    const note = optionalText(output["message"]) ?? optionalText(output["text"]) ?? "";
    return { shape: "diff", text: output["diff"], path: optionalText(output["path"]) ?? "", note };
  }
  const url = webAddress(output["url"]);
  if (url !== null && typeof output["title"] === "string") return { shape: "links", links: [linkOf(url, output)] };
  const artifact = optionalText(output["artifact_id"]);
  if (artifact !== null) return artifactView(artifact, output);
  const entries = Object.values(output);
  return (entries.length === 1 ? listView(entries[0]) : null) ?? { shape: "json", value: output };
}

/** The view that the tool has chosen by `type`. */
function chosenView(output: Json): OutputView | null {
  const { type, text, url } = output;
  if (type === "markdown" && typeof text === "string") return { shape: "markdown", text };
  if (type === "text" && typeof text === "string") return textView(text);
  if (type === "link" && webAddress(url) !== null) return { shape: "links", links: [linkOf(String(url), output)] };
  if (type === "image") return imageView(output);
  if (type === "file") return fileView(output);
  const chart = readChart(output);
  return chart === null ? null : { shape: "chart", chart };
}

function imageView({ data, mimeType, url, ...names }: Json): OutputView | null {
  if (isOwnAddress(url)) return { shape: "image", address: url, name: nameOf(names) };
  if (typeof data !== "string") return null;
  const kind = typeof mimeType === "string" ? mimeType : "image/png";
  return { shape: "image", address: `data:${kind};base64,${data}`, name: nameOf(names) };
}

function fileView(output: Json): OutputView | null {
  const { url, size } = output;
  if (!isOwnAddress(url) && webAddress(url) === null) return null;
  const address = String(url);
  const bytes = typeof size === "number" ? size : null;
  return { shape: "file", name: nameOf(output) || address, url: address, size: bytes, beginning: "" };
}

function nameOf(output: Json): string {
  return optionalText(output["name"]) ?? optionalText(output["title"]) ?? "";
}

/** A result that was too long for the conversation; the server has all of it. */
function artifactView(id: string, output: Json): OutputView {
  const size = typeof output["characters"] === "number" ? output["characters"] : null;
  const beginning = optionalText(output["beginning"]) ?? "";
  return { shape: "file", name: "", url: `/api/v1/artifacts/${encodeURIComponent(id)}`, size, beginning };
}

/** Records with the same keys form a table, those with an address and a title a list of links. */
function listView(output: unknown): OutputView | null {
  if (!Array.isArray(output) || output.length < 1 || !output.every(isRecord)) return null;
  const rows = output as Json[];
  if (rows.every((row) => webAddress(row["url"]) !== null && typeof row["title"] === "string"))
    return { shape: "links", links: rows.map((row) => linkOf(String(row["url"]), row)) };
  const columns = Object.keys(rows[0] ?? {});
  const isEven = rows.every((row) => Object.keys(row).join() === columns.join());
  if (rows.length < 2 || !isEven || columns.length === 0 || columns.length > MOST_COLUMNS) return null;
  return { shape: "table", columns, rows };
}

function linkOf(url: string, output: Json): LinkView {
  const description = optionalText(output["description"]) ?? optionalText(output["snippet"]) ?? "";
  return { url, title: optionalText(output["title"]) ?? "", description };
}

function webAddress(value: unknown): string | null {
  return typeof value === "string" && /^https?:\/\/[^\s]+$/.test(value) ? value : null;
}

function isOwnAddress(value: unknown): value is string {
  return typeof value === "string" && /^\/[^/\\]/.test(value);
}
