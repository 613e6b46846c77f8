import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { PATIENCE } from "./patience.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** `test` by default; `shots` takes the screenshots for the documentation, `bench` measures. */
const suite = process.env["BROWSER_SUITE"] ?? "test";

export default defineConfig({
  root: here("../tests/web"),
  cacheDir: here("node_modules/.vite-browser"),
  test: {
    include: [`**/*.${suite}.ts`],
    globalSetup: ["./server.ts"],
    environment: "node",
    // Each worker has a server and a browser of its own. What is drawn or measured has the machine to itself.
    maxWorkers: suite === "test" ? 2 : 1,
    // What a test waits for has the one guard, and says what is missing; a test of many slow steps may last longer.
    testTimeout: 2 * PATIENCE,
    hookTimeout: 2 * PATIENCE,
    expect: { poll: { timeout: PATIENCE, interval: 50 } },
  },
});
