/** What a call does, in words: a verb by the kind of its tool, and the object from its input. */

import { type CallState, callTitle, inputSummary } from "@/features/tool-cards/tool-view";
import { type ToolPart, toolName } from "@/protocol/message";
import { isRecord } from "@/protocol/shapes";
import type { Text } from "@/text/text";
import { showOnLine } from "@/text/visible";

export type Verb = keyof Text["verbs"];
/** How a call is counted and which icon it has. */
export type Activity = keyof Text["workCounts"];

/** Tools whose verb does not follow from their kind. */
const VERBS_OF_TOOLS: Record<string, Verb> = {
  "open-url": "browse",
  calculate: "think",
  list_files: "list",
  load_skill: "skill",
  ask_user: "ask",
  write_todos: "todo",
};

const FILE = ["path", "file_path", "file", "filename", "filepath", "artifact_id"];

/** Where the object of a verb stands in the input; a call without it is named by its title. */
const OBJECTS: Record<Verb, readonly string[]> = {
  read: FILE,
  list: ["path", "folder", "directory"],
  write: FILE,
  edit: FILE,
  delete: [...FILE, "folder"],
  move: ["source", "from", ...FILE],
  search: ["query", "text", "pattern", "q", "search"],
  execute: ["command", "cmd", "code", "script"],
  fetch: ["url", "uri", "address"],
  browse: ["url"],
  think: ["expression"],
  skill: ["name"],
  ask: [],
  todo: [],
};
/** Verbs that need no object. */
const COMPLETE = new Set<Verb>(["ask", "todo"]);

export interface Phrase {
  /** The verb, or the title of the tool. */
  words: string;
  /** Follows in the font of code. */
  object: string;
}

export function kindOf(part: ToolPart): string {
  const kind = part.toolMetadata?.["kind"];
  return typeof kind === "string" ? kind : "";
}

function verbOf(part: ToolPart, t: Text): Verb | null {
  const kind = VERBS_OF_TOOLS[toolName(part)] ?? kindOf(part);
  return kind !== "think" && kind in t.verbs ? (kind as Verb) : (VERBS_OF_TOOLS[toolName(part)] ?? null);
}

function objectOf(verb: Verb, input: unknown): string {
  if (!isRecord(input)) return "";
  const key = OBJECTS[verb].find((name) => typeof input[name] === "string" && input[name] !== "");
  const value = key === undefined ? "" : String(input[key]).replace(/\s+/g, " ").trim();
  return verb === "browse" || verb === "fetch" ? value.replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "") : value;
}

/** What makes calls of one activity the same thing: reading a file twice is reading one file. */
export function thingOf(part: ToolPart, activity: Activity): string {
  const isFile = activity === "read" || activity === "write" || activity === "edit" || activity === "list";
  return isFile ? objectOf(activity, part.input) : part.toolCallId;
}

/** What the call is counted as. */
export function activityOf(part: ToolPart, isAgent: boolean, t: Text): Activity {
  if (isAgent) return "agent";
  const verb = verbOf(part, t);
  return verb !== null && (COMPLETE.has(verb) || objectOf(verb, part.input) !== "") ? verb : "other";
}

/** What the call does, such as "Reading" and "src/app.py". */
export function phraseOf(part: ToolPart, state: CallState, isAgent: boolean, t: Text): Phrase {
  const { words, object } = findPhrase(part, state, isAgent, t);
  return { words: showOnLine(words), object: showOnLine(object) };
}

function findPhrase(part: ToolPart, state: CallState, isAgent: boolean, t: Text): Phrase {
  const title = callTitle(part, t, isAgent);
  const verb = isAgent ? null : verbOf(part, t);
  const object = verb === null ? "" : objectOf(verb, part.input);
  if (verb === null || (object === "" && !COMPLETE.has(verb))) {
    const summary = inputSummary(part.input);
    return { words: title, object: title.includes(summary) ? "" : summary };
  }
  const form = state === "running" || state === "writing" ? "now" : state === "done" ? "done" : "base";
  return { words: t.verbs[verb][form], object };
}
