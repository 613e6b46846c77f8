import { expect, test } from "vitest";
import { parseArguments } from "@/features/approvals/arguments";

test("only a JSON object can be the arguments of a call", () => {
  expect(parseArguments('{"a": [1]}')).toEqual({ isValid: true, value: { a: [1] } });
  for (const draft of ["", "[1]", "null", '"a"', "{a: 1}"]) expect(parseArguments(draft)).toEqual({ isValid: false });
});
