/** What a command printed, read from the report of the tool that ran it. */

export interface ShellReport {
  /** Null when the command was ended before its own end. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Further lines of the report: the folder, what was cut off, what could not be done. */
  notes: string[];
}

const REPORT =
  /^(cwd: .*)\nexit_code: (.*)\nstdout:(?: \(empty\)|\n([\s\S]*?))(?:\nstderr:\n([\s\S]*?))?((?:\n(?:truncated|note): .*)*)$/;

/** The parts of a report; null when the text is none. */
export function readShellReport(output: unknown): ShellReport | null {
  const match = typeof output === "string" ? REPORT.exec(output) : null;
  if (match === null) return null;
  const [, folder = "", code = "", stdout = "", stderr = "", notes = ""] = match;
  const exitCode = /^-?\d+$/.test(code) ? Number(code) : null;
  return { exitCode, stdout, stderr, notes: [folder, ...notes.split("\n").filter((note) => note !== "")] };
}
