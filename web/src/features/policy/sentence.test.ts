import { expect, test } from "vitest";
import { sentenceOf } from "@/features/policy/sentence";
import { en } from "@/text/en";
import { zh } from "@/text/zh";

const ANY = { action: "ask", tool: "*", kinds: [], arguments: {}, exact: null, agent: "*", modes: [] } as const;

function say(change: object, text = en): string {
  return sentenceOf({ ...ANY, kinds: [], modes: [], ...change }, text);
}

test("a rule reads as a sentence", () => {
  expect(say({})).toBe("Ask before any tool runs.");
  expect(say({ action: "deny", modes: ["plan"] })).toBe("Deny any tool in the mode Plan.");
  expect(say({ action: "allow", kinds: ["write", "edit", "move"], modes: ["auto"] })).toBe(
    "Allow tools that write, edit or move in the mode Auto.",
  );
  expect(say({ action: "allow", tool: "run_shell_command", arguments: { command: "git status.*" } })).toBe(
    "Allow Run shell command if “command” matches “git status.*”.",
  );
  expect(say({ action: "deny", tool: "web_*", agent: "main/scout" })).toBe("Deny web_* for the agent main/scout.");
});

test("the same rule reads as a sentence in Chinese", () => {
  const rule = { action: "allow", kinds: ["write", "edit"], modes: ["auto"], agent: "scout" };
  expect(say(rule, zh)).toBe("允许写入或编辑类工具，仅限智能体 Scout，仅在“自动”模式下。");
});

test("what was always allowed names its exact input and a tool without its escapes", () => {
  expect(say({ action: "allow", tool: "a[*]b", exact: '{"path":"x"}' })).toBe(
    'Allow a*b with exactly this input: {"path":"x"}.',
  );
});
