import { expect, test } from "vitest";
import { TaskStore } from "@/features/background/task-store";
import type { Ask } from "@/protocol/ask";
import { parseTasks, type Task, type TaskState } from "@/protocol/task";

function task(id: string, state: TaskState): Task {
  const [one] = parseTasks({ children: [{ session_id: id, run_id: `run ${id}`, agent: "scribe", state }] });
  if (one === undefined) throw new Error("no task");
  return one;
}

function ask(runId: string, kind: Ask["kind"] = "approval"): Ask {
  return { id: `ask ${runId}`, runId, kind, callId: "c", payload: {} };
}

/** A server with tasks that the test changes. */
class Stage {
  tasks: Task[] = [];
  open: Ask[] = [];
  requests: string[] = [];

  store(): TaskStore {
    return new TaskStore({
      list: async () => {
        this.requests.push("list");
        return this.tasks;
      },
      asks: async () => {
        this.requests.push("asks");
        return this.open;
      },
      send: async (runId, text) => void this.requests.push(`${runId}: ${text}`),
      cancel: async (runId) => void this.requests.push(`cancel ${runId}`),
    });
  }
}

test("only the asks of tasks that work are kept, and those for a browser are not", async () => {
  const stage = new Stage();
  stage.tasks = [task("a", "waiting"), task("b", "ended"), task("c", "running")];
  stage.open = [ask("run a"), ask("run b"), ask("run c", "browser"), ask("another run")];
  const store = stage.store();
  await store.refresh();
  expect(store.read().asks.map((one) => one.runId)).toEqual(["run a"]);
});

test("what a task of a task asks is shown with the task above it, also if that one has ended", async () => {
  const stage = new Stage();
  stage.tasks = [task("a", "ended"), task("b", "running")];
  const below = (id: string, ancestors: string[]) => ({ ...ask(`run ${id}`), sessionId: id, ancestors });
  stage.open = [below("deep", ["top", "a", "child of a"]), below("other", ["another chat"])];
  const store = stage.store();
  await store.refresh();
  expect(store.read().asks.map((one) => one.runId)).toEqual(["run deep"]);
});

test("an unreachable server leaves the tasks as they were", async () => {
  const stage = new Stage();
  stage.tasks = [task("a", "ended")];
  const store = stage.store();
  await store.refresh();
  Object.defineProperty(stage, "tasks", {
    get: () => {
      throw new Error("gone");
    },
  });
  await store.refresh();
  expect(store.read().tasks.length).toBe(1);
});

test("a message goes to the task's newest run, and its state is read again", async () => {
  const stage = new Stage();
  stage.tasks = [task("a", "ended")];
  const store = stage.store();
  await store.refresh();
  await store.send(task("a", "ended"), "go on");
  expect(stage.requests).toEqual(["list", "asks", "run a: go on", "list", "asks"]);
});

test("a task is known by its session", async () => {
  const stage = new Stage();
  stage.tasks = [task("a", "running")];
  const store = stage.store();
  await store.refresh();
  expect([store.has("a"), store.has("b")]).toEqual([true, false]);
});

test("a task that ends while the tasks are loaded for the first time is shown as ended", async () => {
  const stage = new Stage();
  stage.tasks = [task("a", "running")];
  const store = stage.store();
  const loaded = store.refresh();
  stage.tasks = [task("a", "ended")];
  await Promise.all([loaded, store.hear("a"), store.hear("another session")]);
  expect(store.read().tasks.map(({ state }) => state)).toEqual(["ended"]);
  expect(stage.requests.filter((request) => request === "list")).toHaveLength(2);
});
