import { expect, test } from "vitest";
import { chooseExamples } from "@/app/greeting";
import type { SkillInfo, ToolInfo } from "@/protocol/catalog";
import { en } from "@/text/en";
import { loadLanguage } from "@/text/text";

const DESCRIPTION = "Count the pieces of an item, e.g. chisels.\nSay whether it is low. Use it for every number.";
const MODEL = "openai:gpt-4.1";
const REORDER: SkillInfo = { name: "reorder_stock", description: "How to reorder.", scope: null, source: null };

function tool(name: string, more: Partial<ToolInfo> = {}): ToolInfo {
  const title = name.replace("_", " ");
  return { name, title, description: "Does it.", kind: "read", origin: "extension:x", parameters: {}, ...more };
}

function titles(tools: ToolInfo[], skills: SkillInfo[] = []): string[] {
  return chooseExamples(en, MODEL, tools, skills).map(({ title }) => title);
}

test("a shipped tool of the agent has an example, and never more than four are shown", () => {
  expect(titles([tool("calculate", { kind: "think" }), tool("write_file")])).toEqual([
    "Write a file",
    "Calculate exactly",
  ]);
  const all = ["list_files", "write_file", "run_shell_command", "calculate", "get_weather"].map((name) => tool(name));
  expect(titles(all)).toEqual(["Write a file", "Calculate exactly", "Run a command", "Check the weather"]);
});

test("a tool of the project is offered with the first sentence of its description", () => {
  const text = "Count the pieces of an item, e.g. chisels.";
  expect(chooseExamples(en, MODEL, [tool("count_stock", { description: DESCRIPTION })], [])).toEqual([
    { title: "count stock", detail: text, text },
  ]);
});

test("a sentence in Chinese ends without a space", () => {
  const [example] = chooseExamples(
    en,
    MODEL,
    [tool("count_stock", { description: "清点库存。每个数字都要用它。" })],
    [],
  );
  expect(example?.text).toBe("清点库存。");
});

test("a tool that only helps the agent with its work is not offered", () => {
  const helpers = [
    tool("ask_user", { kind: "think", origin: "code" }),
    tool("load_skill", { origin: "skills" }),
    tool("read_artifact", { origin: "built-in" }),
    tool("researcher", { kind: "think", origin: "agent" }),
    tool("silent", { description: "" }),
  ];
  expect(titles([...helpers, tool("count_stock")])).toEqual(["count stock"]);
});

test("skills are offered to an agent that can load them only", () => {
  const loader = tool("load_skill", { origin: "skills" });
  expect(chooseExamples(en, MODEL, [loader], [REORDER])).toEqual([
    { title: "Reorder stock", detail: "How to reorder.", text: "/skill/reorder_stock " },
  ]);
  expect(titles([tool("count_stock")], [REORDER])).toEqual(["count stock"]);
});

test("an agent without tools is asked plain questions", () => {
  expect(titles([], [REORDER])).toEqual(["Explain something", "Get ideas", "Improve a text", "Compare"]);
});

test("an embedded model is offered what it does well, then plain questions; the small one only these", () => {
  const tools = [tool("list_files"), tool("write_file"), tool("run_shell_command"), tool("calculate")];
  const offered = (model: string) => chooseExamples(en, model, tools, []).map(({ title }) => title);
  expect(offered("local:good")).toEqual(["Write a file", "Calculate exactly", "Explain something", "Get ideas"]);
  expect(offered("local:small")).toEqual(["Explain something", "Get ideas", "Improve a text", "Compare"]);
});

test("an embedded model is offered no description of a tool and no skill", () => {
  const project = [tool("count_stock", { description: DESCRIPTION }), tool("load_skill", { origin: "skills" })];
  const plain = ["Explain something", "Get ideas", "Improve a text", "Compare"];
  for (const model of ["local:good", "local:small", "local:Qwen3-4B-Q4_K_M"]) {
    expect(chooseExamples(en, model, project, [REORDER]).map(({ title }) => title)).toEqual(plain);
  }
});

test("both languages have examples of the same tools", async () => {
  const zh = await loadLanguage("zh");
  expect(zh.examples.map(([name]) => name)).toEqual(en.examples.map(([name]) => name));
});
