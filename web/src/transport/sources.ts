/** Reading and changing the texts behind agents, skills and prompts. */

import { parseSource, type Source, type SourceKind } from "@/protocol/source";
import { getJson, sendJson } from "@/transport/http";

function path(kind: SourceKind, name: string): string {
  return `/api/v1/sources/${kind}/${encodeURIComponent(name)}`;
}

export async function readSource(kind: SourceKind, name: string): Promise<Source> {
  return parseSource(await getJson(path(kind, name)));
}

/** Changes a text; the server refuses an invalid one, and one that has changed since. */
export async function writeSource(kind: SourceKind, name: string, text: string, version: string): Promise<Source> {
  return parseSource(await sendJson("PUT", path(kind, name), { text, version }));
}

export async function addSource(kind: SourceKind, name: string, text: string): Promise<void> {
  await sendJson("POST", `/api/v1/sources/${kind}`, { name, text });
}

export async function deleteSource(kind: SourceKind, name: string): Promise<void> {
  await sendJson("DELETE", path(kind, name));
}
