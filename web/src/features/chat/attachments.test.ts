import { expect, test } from "vitest";
import { LARGEST_FILE, readFiles } from "@/features/chat/attachments";

test("a file becomes a part with its bytes, and a file that is too large is reported", async () => {
  const note = new File(["höhe"], "note.txt", { type: "text/plain" });
  const large = new File([new Uint8Array(LARGEST_FILE + 1)], "film.mp4");
  const { parts, tooLarge } = await readFiles([note, large]);
  expect(parts).toEqual([
    { type: "file", mediaType: "text/plain", filename: "note.txt", url: "data:text/plain;base64,aMO2aGU=" },
  ]);
  expect(tooLarge).toEqual(["film.mp4"]);
});
