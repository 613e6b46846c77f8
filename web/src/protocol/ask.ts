/** The asks of a run: an approval, or something for a browser to do. */

import { type Json, list, optionalText, record, text } from "@/protocol/shapes";

export interface Ask {
  id: string;
  runId: string;
  kind: "approval" | "browser" | "question";
  callId: string;
  payload: Json;
  /** The session that asks, if the server names it. */
  sessionId?: string | null;
  /** The sessions above it, from the top; it works in the background of the last one. */
  ancestors?: readonly string[];
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
    sessionId: optionalText(value["session_id"]),
    ancestors: list(value["ancestors"]).map((id) => text(id)),
  };
}

/** The first question of an ask. */
export function askTitle({ payload }: Ask): string {
  const first = record(list(payload["questions"])[0]);
  return text(first["question"]) || text(payload["message"]) || text(payload["question"]);
}

/** The agents from the one of the session down to the one that asks. */
export function askPath({ payload }: Ask): string[] {
  return list(payload["agent_path"]).map((name) => text(name));
}
