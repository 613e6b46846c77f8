import { expect, test, vi } from "vitest";
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
  hidden = false;

  store(): TaskStore {
    return new TaskStore(
      {
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
        isHidden: () => this.hidden,
      },
      3000,
    );
  }
}

test("tasks are polled while one works and is in sight, and no longer", async () => {
  vi.useFakeTimers();
  try {
    const stage = new Stage();
    stage.tasks = [task("a", "running")];
    const store = stage.store();
    const leave = store.subscribe(() => {});
    await store.refresh();
    stage.hidden = true;
    await vi.advanceTimersByTimeAsync(9000);
    expect(stage.requests).toEqual(["list", "asks"]);
    stage.hidden = false;
    stage.tasks = [task("a", "ended")];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(store.read().tasks.map((one) => one.state)).toEqual(["ended"]);
    expect(stage.requests).toEqual(["list", "asks", "list"]);

    stage.tasks = [task("a", "running")];
    await store.refresh();
    leave();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stage.requests.length).toBe(5);
    store.subscribe(() => {});
    await store.resume();
    expect(stage.requests.length).toBe(7);
  } finally {
    vi.useRealTimers();
  }
});

test("only the asks of tasks that work are kept, and those for a browser are not", async () => {
  const stage = new Stage();
  stage.tasks = [task("a", "waiting"), task("b", "ended"), task("c", "running")];
  stage.open = [ask("run a"), ask("run b"), ask("run c", "browser"), ask("another run")];
  const store = stage.store();
  await store.refresh();
  expect(store.read().asks.map((one) => one.runId)).toEqual(["run a"]);
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
  expect(stage.requests).toEqual(["list", "run a: go on", "list"]);
});
