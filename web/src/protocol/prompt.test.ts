import { expect, test } from "vitest";
import { parsePrompts } from "@/protocol/prompt";

test("prompts are read with their variables and the files that are broken", () => {
  const variables = [
    { name: "text", description: "The text.", default: null, required: true, choices: [] },
    { name: "depth", description: "", default: 2, required: false, choices: [1, 2] },
  ];
  const found = parsePrompts({
    prompts: [{ name: "review", title: "Review", description: "", path: "p/review.yaml", variables }],
    errors: [{ path: "p/broken.yaml", line: 3, message: "This is not valid YAML.", keeps_last_good: true }],
  });
  expect(found.prompts[0]?.variables).toEqual([
    { name: "text", description: "The text.", preset: null, choices: [] },
    { name: "depth", description: "", preset: "2", choices: ["1", "2"] },
  ]);
  expect(found.errors).toEqual([
    { name: "broken", message: "This is not valid YAML.", source: "p/broken.yaml:3", keepsLastGood: true },
  ]);
  expect(parsePrompts(null)).toEqual({ prompts: [], errors: [] });
});
