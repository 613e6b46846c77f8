import { expect, test } from "vitest";
import { readShellReport } from "@/features/tool-cards/shell";

test("a report is parsed into exit code, output and notes", () => {
  const text = "cwd: .\nexit_code: 2\nstdout:\none\ntwo\nstderr:\nno such file\ntruncated: showing 20 of 90 characters";
  expect(readShellReport(text)).toEqual({
    exitCode: 2,
    stdout: "one\ntwo",
    stderr: "no such file",
    notes: ["cwd: .", "truncated: showing 20 of 90 characters"],
  });
});

test("a command without output, or one that was killed, is parsed too", () => {
  expect(readShellReport("cwd: a\nexit_code: 0\nstdout: (empty)")).toMatchObject({ exitCode: 0, stdout: "" });
  const ended = readShellReport("cwd: a\nexit_code: none (killed after the time limit of 5 s)\nstdout:\npart");
  expect(ended).toMatchObject({ exitCode: null, stdout: "part" });
});

test("output lines that look like report headers stay output, and other texts are not reports", () => {
  const text = "cwd: .\nexit_code: 0\nstdout:\nexit_code: 7\ncwd: /\nstdout:\nend";
  expect(readShellReport(text)).toMatchObject({ exitCode: 0, stdout: "exit_code: 7\ncwd: /\nstdout:\nend" });
  expect(readShellReport("hello")).toBeNull();
  expect(readShellReport({ exit_code: 0 })).toBeNull();
});
