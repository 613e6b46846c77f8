import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("../tests/web"),
  cacheDir: here("node_modules/.vite-browser"),
  test: {
    // `test` by default; `shots` takes the pictures of the documentation, `bench` measures.
    include: [`**/*.${process.env["BROWSER_SUITE"] ?? "test"}.ts`],
    globalSetup: ["./server.ts"],
    environment: "node",
    fileParallelism: false,
    // A browser on a machine that others use may stall once; what fails twice is broken.
    retry: process.env["CI"] ? 1 : 0,
    // Generous: a busy machine is slow, and what is missing is missing after any time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 45_000, interval: 50 } },
  },
});
