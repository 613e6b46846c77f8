import { expect, test } from "vitest";
import { costText, tokensText } from "@/features/inspector/usage";
import { en } from "@/text/en";
import { zh } from "@/text/zh";

const USAGE = {
  input_tokens: 12_000,
  output_tokens: 900,
  cached_tokens: 8_000,
  cache_write_tokens: 2_000,
  reasoning_tokens: 400,
  cost: 0.0213,
};

test("cached, written and reasoning tokens are shown in both languages", () => {
  expect(tokensText(en, USAGE)).toBe("12.0k in, 900 out · 8000 cached · 2000 written to cache · 400 reasoning");
  expect(tokensText(zh, USAGE)).toBe("输入 12.0k，输出 900 · 其中缓存 8000 · 写入缓存 2000 · 推理 400");
});

test("what there is none of is left out", () => {
  const plain = { ...USAGE, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
  expect(tokensText(en, plain)).toBe("12.0k in, 900 out");
});

test("the usage of an older run has fewer fields", () => {
  expect(tokensText(en, { input_tokens: 3, output_tokens: 4 })).toBe("3 in, 4 out");
});

test("the cost is shown if it is known, also if it is zero", () => {
  expect(costText(USAGE)).toBe("0.02");
  expect(costText({ ...USAGE, cost: 0 })).toBe("0.00");
  expect(costText({ ...USAGE, cost: null })).toBe("");
});
