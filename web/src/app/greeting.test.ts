import { expect, test } from "vitest";
import { chooseExamples } from "@/app/greeting";
import { en } from "@/text/en";

test("the examples show the tools that are there, and never more than four", () => {
  const titles = chooseExamples(en.examples, new Set(["calculate", "write_file"])).map(([title]) => title);
  expect(titles).toEqual(["Write a file", "Calculate exactly", "Explain something", "Get ideas"]);
});

test("without tools the examples are plain questions", () => {
  expect(chooseExamples(en.examples, new Set())).toHaveLength(4);
});
