/** The asks of a run: an approval, or something for a browser to do. */

import { type Json, optionalText, record, text } from "@/protocol/shapes";

export interface Ask {
  id: string;
  runId: string;
  kind: "approval" | "browser" | "question";
  callId: string;
  payload: Json;
}

export function parseAsk(value: Json): Ask | null {
  const id = optionalText(value["ask_id"]);
  const kind = value["kind"];
  if (id === null || (kind !== "approval" && kind !== "browser" && kind !== "question")) return null;
  return {
    id,
    runId: text(value["run_id"]),
    kind,
    callId: text(value["call_id"]),
    payload: record(value["payload"]),
  };
}
