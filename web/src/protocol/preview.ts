/** What a call would do, as the server shows it to whoever is asked to approve the call. */

import { type Json, record, text } from "@/protocol/shapes";

export type Preview =
  | { kind: "diff"; path: string; diff: string; isNew: boolean }
  | { kind: "command"; command: string; folder: string }
  | { kind: "request"; method: string; url: string }
  | { kind: "text"; text: string };

/** The preview in the payload of an approval; null if there is none, or one of an unknown kind. */
export function parsePreview(payload: Json): Preview | null {
  const value = record(payload["preview"]);
  switch (value["kind"]) {
    case "diff":
      return { kind: "diff", path: text(value["path"]), diff: text(value["diff"]), isNew: value["is_new"] === true };
    case "command":
      return { kind: "command", command: text(value["command"]), folder: text(value["folder"]) };
    case "request":
      return { kind: "request", method: text(value["method"]), url: text(value["url"]) };
    case "text":
      return { kind: "text", text: text(value["text"]) };
    default:
      return null;
  }
}
