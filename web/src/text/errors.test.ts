import { expect, test } from "vitest";
import { en } from "@/text/en";
import { describeError, errorText } from "@/text/errors";
import { zh } from "@/text/zh";

function serverError(kind: string, message: string, hint: string | null = null): Error {
  return Object.assign(new Error(message), { kind, hint });
}

test("the server's English stays in English, with its hint", () => {
  const error = serverError("not_found_error", "Session 's' not found.", "Choose another one.");
  expect(errorText(error, en)).toBe("Session 's' not found. Choose another one.");
});

test("a known code is a sentence in Chinese, followed by what the server wrote", () => {
  const error = serverError("not_found_error", "Session 's' not found.");
  expect(describeError(error, zh)).toEqual({
    title: zh.errorKinds["not_found_error"],
    detail: "Session 's' not found.",
  });
});

test("a fragment becomes a sentence, and nothing becomes an empty line", () => {
  expect(errorText("no route to host", en)).toBe("No route to host.");
  expect(errorText("policy.toml:1: no", en)).toBe("policy.toml:1: no.");
  expect(errorText(new Error(""), en)).toBe(en.errorTitle);
});
