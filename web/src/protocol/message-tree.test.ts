/** The same cases as the Python tree. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MessageTree, type TreeNode } from "@/protocol/message-tree";

type Pair = [id: string, parentId: string | null];

interface Case {
  name: string;
  messages: Pair[];
  steps?: Array<["switch" | "remove", string]>;
  head: string | null;
  path: string[];
  siblings?: Record<string, string[]>;
}

const file = join(import.meta.dirname, "../../../tests/golden/tree_cases.json");
const cases: Case[] = JSON.parse(readFileSync(file, "utf8"));

const node = ([id, parentId]: Pair): TreeNode => ({ id, parentId });
const ids = (nodes: TreeNode[]) => nodes.map((one) => one.id);

test.each(cases.map((one) => [one.name, one] as const))("%s", (_, { messages, steps, head, path, siblings }) => {
  const tree = new MessageTree(messages.map(node));
  for (const [operation, id] of steps ?? []) tree[operation](id);
  expect(tree.head).toBe(head);
  expect(ids(tree.path())).toEqual(path);
  for (const [id, expected] of Object.entries(siblings ?? {})) expect(ids(tree.siblings(id))).toEqual(expected);
});

test("a stored head is kept and an unknown one is not", () => {
  const nodes = [node(["a", null]), node(["b", "a"])];
  expect(new MessageTree(nodes, "a").head).toBe("a");
  expect(new MessageTree(nodes, "gone").head).toBe("b");
});

test("unknown and repeated ids are named", () => {
  const tree = new MessageTree([node(["a", null])]);
  expect(() => tree.switch("x")).toThrow("x");
  expect(() => tree.add(node(["a", null]))).toThrow("a");
});
