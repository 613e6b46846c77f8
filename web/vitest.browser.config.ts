import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("../tests/web"),
  cacheDir: here("node_modules/.vite-browser"),
  test: {
    // `test` by default; `shots` takes the screenshots for the documentation, `bench` measures.
    include: [`**/*.${process.env["BROWSER_SUITE"] ?? "test"}.ts`],
    globalSetup: ["./server.ts"],
    environment: "node",
    fileParallelism: false,
    // On a shared machine a browser may stall once; a test that fails twice is broken.
    retry: process.env["CI"] ? 1 : 0,
    // Generous: a busy machine is slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 45_000, interval: 50 } },
  },
});
