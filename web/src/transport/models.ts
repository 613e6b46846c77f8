/** What an operator does with models. */

import {
  type KeyCheck,
  type ModelCheck,
  type ProviderKey,
  parseCheck,
  parseKey,
  parseKeyCheck,
  parseKeys,
} from "@/protocol/model-setup";
import { getJson, sendJson } from "@/transport/http";

const BASE = "/api/v1/models";

export async function pullModel(name: string): Promise<void> {
  await sendJson("POST", `${BASE}/pull`, { name });
}

export async function stopPull(): Promise<void> {
  await sendJson("DELETE", `${BASE}/pull`);
}

export async function checkModel(name: string): Promise<ModelCheck> {
  return parseCheck(await sendJson("POST", `${BASE}/check`, { name }));
}

export async function listKeys(): Promise<ProviderKey[]> {
  return parseKeys(await getJson(`${BASE}/keys`));
}

export async function setKey(provider: string, key: string): Promise<ProviderKey> {
  return parseKey(await sendJson("PUT", `${BASE}/keys/${encodeURIComponent(provider)}`, { key }));
}

export async function deleteKey(provider: string): Promise<ProviderKey> {
  return parseKey(await sendJson("DELETE", `${BASE}/keys/${encodeURIComponent(provider)}`));
}

/** Whether the provider accepts its key. */
export async function checkKey(provider: string): Promise<KeyCheck> {
  return parseKeyCheck(await sendJson("POST", `${BASE}/keys/${encodeURIComponent(provider)}/check`));
}
