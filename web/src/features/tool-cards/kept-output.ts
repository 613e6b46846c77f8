/** Outputs that are meant to be seen: they stay visible when the work folds. */

import type { ToolPart } from "@/protocol/message";
import { isRecord } from "@/protocol/shapes";

/** Whether the output is a picture or a chart. */
export function isKeptOutput(part: ToolPart): boolean {
  if (part.state !== "output-available" || part.preliminary) return false;
  const { output } = part;
  if (isRecord(output)) return output["type"] === "image" || output["type"] === "chart";
  return typeof output === "string" && output.startsWith("data:image/");
}
