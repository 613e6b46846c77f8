/** Signing in to a server with API keys; the browser keeps the key in a cookie that scripts cannot read. */

import { record, text } from "@/protocol/shapes";
import { sendJson } from "@/transport/http";

const PATH = "/api/v1/sign-in";

/** Signs in with an API key; returns the name of its owner. */
export async function signIn(key: string): Promise<string> {
  return text(record(await sendJson("POST", PATH, { key }))["owner"], "");
}

export async function signOut(): Promise<void> {
  await sendJson("DELETE", PATH);
}
