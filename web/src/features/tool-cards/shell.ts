/** The output of a command, parsed from the report of the tool that ran it. */

export interface ShellReport {
  /** Null if the command was killed. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Further lines of the report: the folder, truncation, problems. */
  notes: string[];
}

const REPORT =
  /^(cwd: .*)\nexit_code: (.*)\nstdout:(?: \(empty\)|\n([\s\S]*?))(?:\nstderr:\n([\s\S]*?))?((?:\n(?:truncated|note): .*)*)$/;

/** The parts of a report; null if the text is not a report. */
export function readShellReport(output: unknown): ShellReport | null {
  const match = typeof output === "string" ? REPORT.exec(output) : null;
  if (match === null) return null;
  const [, folder = "", code = "", stdout = "", stderr = "", notes = ""] = match;
  const exitCode = /^-?\d+$/.test(code) ? Number(code) : null;
  return { exitCode, stdout, stderr, notes: [folder, ...notes.split("\n").filter((note) => note !== "")] };
}
