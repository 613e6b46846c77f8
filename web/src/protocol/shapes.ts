/** Guards for JSON from the server: an unexpected value becomes a default, never a crash. */

export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown, fallback = ""): string {
  return typeof value === "string" ? value : fallback;
}

export function optionalText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function number(value: unknown, fallback = 0): number {
  return typeof value === "number" && Number.isFinite(value) ? value : fallback;
}

/** An ISO 8601 time in milliseconds since 1970. */
export function time(value: unknown): number {
  return number(Date.parse(text(value)));
}

/** An identifier as people write it: `run_shell_command` becomes "Run shell command"; other texts stay as they are. */
export function readableName(name: string): string {
  if (!/^[a-z0-9]+([_-][a-z0-9]+)*$/.test(name)) return name;
  const words = name.replaceAll(/[_-]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
