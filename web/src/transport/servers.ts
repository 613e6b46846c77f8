/** The configured MCP servers. */

import { parseServer, parseServers, type ServerInfo } from "@/protocol/servers";
import { record, text } from "@/protocol/shapes";
import { getJson, sendJson } from "@/transport/http";

const BASE = "/api/v1/servers";

export async function listServers(): Promise<ServerInfo[]> {
  return parseServers(await getJson(BASE));
}

export async function reconnectServer(name: string): Promise<ServerInfo> {
  return parseServer(await sendJson("POST", `${BASE}/${encodeURIComponent(name)}/reconnect`));
}

/** Returns the address that a person opens to log in. */
export async function startLogin(name: string): Promise<string> {
  return text(record(await sendJson("POST", `${BASE}/${encodeURIComponent(name)}/login`))["address"]);
}

export async function endLogin(name: string): Promise<ServerInfo> {
  return parseServer(await sendJson("DELETE", `${BASE}/${encodeURIComponent(name)}/login`));
}
