import { expect, test } from "vitest";
import { isDiff, parseDiff } from "@/ui/diff-lines";

const DIFF = `diff --git a/joint.py b/joint.py
index 111..222 100644
--- a/joint.py
+++ b/joint.py
@@ -10,3 +10,4 @@ def joint():
 wood = "oak"
-slope = 1 / 6
+slope = 1 / 8
+glue = False
 return slope
\\ No newline at end of file
`;

test("lines are numbered on both sides", () => {
  const [file] = parseDiff(DIFF);
  expect(file).toMatchObject({ path: "joint.py", added: 2, removed: 1, isNew: false });
  expect(file?.hunks[0]?.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ["same", 10, 10],
    ["removed", 11, null],
    ["added", null, 11],
    ["added", null, 12],
    ["same", 12, 13],
  ]);
});

test("lines that were replaced one by one have their changed words marked", () => {
  const [file] = parseDiff("@@ -1,1 +1,1 @@\n-the slope is 16 here\n+the slope is 18 here\n");
  const [removed, added] = file?.hunks[0] ?? [];
  expect(removed?.text.slice(...(removed.mark ?? [0, 0]))).toBe("16");
  expect(added?.text.slice(...(added.mark ?? [0, 0]))).toBe("18");
  const [other] = parseDiff("@@ -1 +1 @@\n-nothing alike\n+a wholly other line\n");
  expect(other?.hunks[0]?.map(({ mark }) => mark)).toEqual([null, null]);
});

test("new and removed files are named, and a line that looks like a header stays a line", () => {
  const text =
    "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1,2 @@\n+--- a\n++++ b\n--- a/old.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
  const files = parseDiff(text);
  expect(files.map(({ path, isNew, isRemoved }) => [path, isNew, isRemoved])).toEqual([
    ["new.md", true, false],
    ["old.md", false, true],
  ]);
  expect(files[0]?.hunks[0]?.map((line) => line.text)).toEqual(["--- a", "+++ b"]);
});

test("a diff without headers is shown too, and prose is not a diff", () => {
  expect(parseDiff("+x\n y")[0]?.hunks[0]?.map(({ kind }) => kind)).toEqual(["added", "same"]);
  expect(isDiff(DIFF)).toBe(true);
  expect(isDiff("- one\n- two\n")).toBe(false);
});
