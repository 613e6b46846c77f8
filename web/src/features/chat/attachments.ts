/** The files of a message that is being written: which ones a model can read, and their content. */

import type { MessagePart } from "@/protocol/message";

export type FilePart = Extract<MessagePart, { type: "file" }>;

export const LARGEST_FILE = 8_000_000;
/** The most bytes of all files of a message; encoded they still fit into a request. */
export const LARGEST_MESSAGE = 14_000_000;
export const MOST_FILES = 20;

/** Why a file is not attached. */
export type Refusal =
  | { kind: "too-large"; name: string }
  | { kind: "together-too-large"; name: string }
  | { kind: "too-many" }
  | { kind: "unsupported"; name: string }
  | { kind: "unreadable"; name: string };

const READABLE = /^(text\/|audio\/|video\/|image\/(png|jpe?g|gif|webp)$|application\/pdf$)/;

/** Why a file cannot join the others, as far as its size says; `bytes` are those of the others. */
export function refusalOf(file: File, count: number, bytes: number): Refusal | null {
  if (file.size > LARGEST_FILE) return { kind: "too-large", name: file.name };
  if (count >= MOST_FILES) return { kind: "too-many" };
  return bytes + file.size > LARGEST_MESSAGE ? { kind: "together-too-large", name: file.name } : null;
}

/** Reads a file as a part of a message; a refusal if it is neither text nor anything that models read. */
export async function readFile(
  file: File,
  onProgress: (share: number) => void = () => {},
): Promise<FilePart | Refusal> {
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(file, onProgress);
  } catch {
    return { kind: "unreadable", name: file.name };
  }
  const mediaType = mediaTypeOf(file.type, bytes);
  if (mediaType === null) return { kind: "unsupported", name: file.name };
  return { type: "file", mediaType, filename: file.name, url: `data:${mediaType};base64,${toBase64(bytes)}` };
}

/** The type as the server gets it: what can be read as text is text, whatever the browser calls it. */
function mediaTypeOf(type: string, bytes: Uint8Array): string | null {
  const plain = (type.split(";")[0] ?? "").trim().toLowerCase();
  // Browsers take TypeScript for a film.
  if (READABLE.test(plain) && plain !== "video/mp2t") return plain;
  if (!isText(bytes)) return plain === "video/mp2t" ? plain : null;
  return /^application\/([\w.-]+\+)?(json|xml|yaml)$/.test(plain) ? plain : "text/plain";
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.subarray(0, 8192).includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

async function readBytes(file: File, onProgress: (share: number) => void): Promise<Uint8Array> {
  const bytes = new Uint8Array(file.size);
  const reader = file.stream().getReader();
  for (let at = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return bytes.subarray(0, at);
    bytes.set(value, at);
    at += value.length;
    onProgress(at / file.size);
  }
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

/** The size of a part with its content, in bytes. */
export function sizeOf(part: FilePart): number {
  if (!part.url.startsWith("data:")) return 0;
  const content = part.url.slice(part.url.indexOf(",") + 1);
  return (content.length / 4) * 3 - (content.length - content.replace(/=+$/, "").length);
}

/** The files on a clipboard; none if it holds text that is more than their names, as spreadsheets put it there. */
export function pastedFiles(data: DataTransfer): File[] {
  const files = [...data.files];
  const text = data.getData("text/plain").trim();
  const areNames = text.split(/\r?\n/).every((line) => files.some((file) => line.endsWith(file.name)));
  return text === "" || areNames ? files : [];
}
