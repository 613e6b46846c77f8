/** The files of a message that is being written. */

import type { MessagePart } from "@/protocol/message";

export type FilePart = Extract<MessagePart, { type: "file" }>;

export const LARGEST_FILE = 8_000_000;

/** The files as parts of a message, and the names of those that are too large. */
export async function readFiles(files: Iterable<File>): Promise<{ parts: FilePart[]; tooLarge: string[] }> {
  const all = [...files];
  const fitting = all.filter((file) => file.size <= LARGEST_FILE);
  return {
    parts: await Promise.all(fitting.map(readFile)),
    tooLarge: all.filter((file) => file.size > LARGEST_FILE).map((file) => file.name),
  };
}

async function readFile(file: File): Promise<FilePart> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  const mediaType = file.type || "application/octet-stream";
  return { type: "file", mediaType, filename: file.name, url: `data:${mediaType};base64,${btoa(binary)}` };
}
