/** HTTP requests to the server: JSON in and out, and readable errors. */

import { isRecord, optionalText, record, text } from "@/protocol/shapes";
import { adminHeaders } from "@/transport/admin";

export class ServerError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hint: string | null = null,
    /** Where an operator repairs it: `keys` or `models`. */
    readonly remedy: string | null = null,
  ) {
    super(message);
    this.name = "ServerError";
  }
}

/** The server could not be reached at all. */
export class OfflineError extends Error {
  constructor(cause: unknown) {
    super("Cannot reach the server.", { cause });
    this.name = "OfflineError";
  }
}

let origin = "";
let ownHeaders: Readonly<Record<string, string>> = {};

/** Sends all further requests to another server than that of the page, with these headers. */
export function connectTo(server: string, headers: Readonly<Record<string, string>>): void {
  origin = server.replace(/\/$/, "");
  ownHeaders = headers;
}

/** Dispatches `signed-out` when the server requires signing in. */
export const signedOut = new EventTarget();

async function failure(response: Response): Promise<ServerError> {
  const body: unknown = await response.json().catch(() => null);
  const error = record(isRecord(body) ? body["error"] : null);
  const fallback = `${response.status} ${response.statusText}`.trim();
  return new ServerError(
    response.status,
    text(error["type"], "http_error"),
    text(error["message"], fallback),
    optionalText(error["hint"]),
    optionalText(error["remedy"]),
  );
}

/** Sends a request; throws one of the errors above unless the response is 2xx. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    const headers = { ...ownHeaders, ...adminHeaders(), ...(init.headers as Record<string, string> | undefined) };
    response = await fetch(origin + path, { credentials: "same-origin", ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new OfflineError(error);
  }
  if (response.status === 401) signedOut.dispatchEvent(new Event("signed-out"));
  if (!response.ok) throw await failure(response);
  return response;
}

export async function getJson(path: string, signal?: AbortSignal): Promise<unknown> {
  const response = await send(path, { headers: { accept: "application/json" }, signal: signal ?? null });
  return response.status === 204 ? null : response.json();
}

export async function sendJson(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const response = await send(path, {
    method,
    headers: { accept: "application/json", "content-type": "application/json", ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const content = await response.text();
  return content === "" ? null : JSON.parse(content);
}
