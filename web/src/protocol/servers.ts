/** The configured MCP servers. */

import { isRecord, type Json, list, optionalText, record, text, time } from "@/protocol/shapes";

export const SERVER_STATES = ["connected", "connecting", "lost", "login", "failed", "disabled"] as const;
export type ServerState = (typeof SERVER_STATES)[number];

export interface ServerInfo {
  name: string;
  /** The command or the address, without secrets. */
  address: string;
  state: ServerState;
  problem: string | null;
  connectedAt: number | null;
  tools: string[];
  isTrusted: boolean;
  login: { isPossible: boolean; isWaiting: boolean; isDone: boolean; error: string | null };
  log: { at: number; text: string }[];
}

export function parseServer(value: unknown): ServerInfo {
  const server = record(value);
  const login = record(server["login"]);
  return {
    name: text(server["name"]),
    address: text(server["address"]),
    state: SERVER_STATES.find((state) => state === server["state"]) ?? "failed",
    problem: optionalText(server["problem"]),
    connectedAt: optionalText(server["connected_at"]) === null ? null : time(server["connected_at"]),
    tools: list(server["tools"]).map((name) => text(name)),
    isTrusted: server["trusted"] === true,
    login: {
      isPossible: login["possible"] === true,
      isWaiting: login["waiting"] === true,
      isDone: login["done"] === true,
      error: optionalText(login["error"]),
    },
    log: list(server["log"]).filter(isRecord).map(parseLine),
  };
}

function parseLine(line: Json): { at: number; text: string } {
  return { at: time(line["at"]), text: text(line["text"]) };
}

export function parseServers(value: unknown): ServerInfo[] {
  return list(record(value)["servers"]).map(parseServer);
}
