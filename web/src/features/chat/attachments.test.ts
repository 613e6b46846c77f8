import { expect, test } from "vitest";
import {
  LARGEST_FILE,
  LARGEST_MESSAGE,
  MOST_FILES,
  pastedFiles,
  readFile,
  refusalOf,
  sizeOf,
} from "@/features/chat/attachments";

test("a file becomes a part with its bytes, and its progress is reported", async () => {
  const shares: number[] = [];
  const note = new File(["höhe"], "note.txt", { type: "text/plain" });
  const part = await readFile(note, (share) => shares.push(share));
  expect(part).toEqual({
    type: "file",
    mediaType: "text/plain",
    filename: "note.txt",
    url: "data:text/plain;base64,aMO2aGU=",
  });
  expect(shares.at(-1)).toBe(1);
  if ("url" in part) expect(sizeOf(part)).toBe(note.size);
});

test.each([
  ["main.py", "", "x = 1", "text/plain"],
  ["main.ts", "video/mp2t", "const x = 1", "text/plain"],
  ["run.sh", "application/x-sh", "ls", "text/plain"],
  ["data.json", "application/json", "{}", "application/json"],
  ["plan.svg", "image/svg+xml", "<svg/>", "text/plain"],
  ["table.csv", "text/csv; charset=utf-8", "a,b", "text/csv"],
  ["photo.jpg", "image/jpeg", "\0", "image/jpeg"],
  ["paper.pdf", "application/pdf", "%PDF\0", "application/pdf"],
])("%s of type %j is sent as it can be read", async (name, type, content, mediaType) => {
  expect(await readFile(new File([content], name, { type }))).toMatchObject({ mediaType });
});

test.each([
  ["letter.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["all.zip", "application/zip"],
  ["picture.heic", "image/heic"],
  ["program", ""],
])("%s is refused, because no model reads it", async (name, type) => {
  const file = new File([new Uint8Array([80, 75, 0, 200])], name, { type });
  expect(await readFile(file)).toEqual({ kind: "unsupported", name });
});

test("a file that cannot be read is refused", async () => {
  const folder = new File(["x"], "folder");
  folder.stream = () => new ReadableStream({ start: (controller) => controller.error(new Error("a folder")) });
  expect(await readFile(folder)).toEqual({ kind: "unreadable", name: "folder" });
});

test("files that are too large, alone or together, and too many files are refused", () => {
  const large = new File([new Uint8Array(LARGEST_FILE + 1)], "film.mp4");
  const small = new File(["x"], "x.txt");
  expect(refusalOf(large, 0, 0)).toEqual({ kind: "too-large", name: "film.mp4" });
  expect(refusalOf(small, 1, LARGEST_MESSAGE)).toEqual({ kind: "together-too-large", name: "x.txt" });
  expect(refusalOf(small, MOST_FILES, 0)).toEqual({ kind: "too-many" });
  expect(refusalOf(small, 1, 1)).toBeNull();
});

test("a pasted table stays text although a picture of it comes along", () => {
  const picture = new File(["x"], "image.png", { type: "image/png" });
  const clipboard = (text: string) => ({ files: [picture], getData: () => text }) as unknown as DataTransfer;
  expect(pastedFiles(clipboard("1\t2\n3\t4"))).toEqual([]);
  expect(pastedFiles(clipboard(""))).toEqual([picture]);
  expect(pastedFiles(clipboard("image.png"))).toEqual([picture]);
});
