import { expect, test } from "vitest";
import { factsText } from "@/features/models/facts";
import { parseModels } from "@/protocol/model";
import { en } from "@/text/en";
import { zh } from "@/text/zh";

function parse(model: Record<string, unknown>) {
  const [parsed] = parseModels({ models: [{ name: "openai:gpt-5-mini", title: "", state: "ready", ...model }] });
  if (!parsed) throw new Error("The model was not read.");
  return parsed;
}

test("price and window are shown in both languages", () => {
  const model = parse({ free: false, price: { input: 0.075, output: 2 }, context_tokens: 400_000 });
  expect(factsText(en, model)).toBe("Price per million tokens: 0.075 in, 2 out · Window: 400k tokens");
  expect(factsText(zh, model)).toBe("每百万词元价格：输入 0.075，输出 2 · 上下文：400k 词元");
});

test("a model on this machine is free", () => {
  const model = parse({ free: true, price: { input: 0, output: 0 }, context_tokens: null });
  expect([factsText(en, model), factsText(zh, model)]).toEqual(["Free", "免费"]);
});

test("nothing is shown of a model without known price and window", () => {
  expect(factsText(en, parse({ price: null, context_tokens: null }))).toBe("");
  expect(factsText(en, parse({}))).toBe("");
  expect(factsText(en, parse({ price: { input: "2", output: 3 }, context_tokens: -1 }))).toBe("");
});
