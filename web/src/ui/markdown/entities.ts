/** Decoding of character references: React escapes text itself, so it must be given plain characters. */

import { decodeNamedCharacterReference } from "decode-named-character-reference";

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,31}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return decodeNamedCharacterReference(name) || whole;
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** An address that a link may lead to, or null for anything that could run script or leave the site unnoticed. */
export function safeAddress(address: string): string | null {
  // Browsers ignore tabs and line breaks anywhere in a URL, and read a backslash as a slash.
  const decoded = decodeEntities(address)
    .replace(/\p{Cc}/gu, "")
    .trim();
  if (/^(https?:|mailto:)/i.test(decoded)) return decoded;
  return /^[/#?]/.test(decoded) && !/^[/\\]{2}/.test(decoded) ? decoded : null;
}

/** The address of an image that may be loaded: from our own server, or inside the text itself. */
export function safeImage(address: string): string | null {
  const decoded = decodeEntities(address).trim();
  if (/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(decoded)) return decoded;
  const safe = safeAddress(address);
  return safe?.startsWith("/") ? safe : null;
}
