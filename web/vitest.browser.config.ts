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
    // Guards against hangs: a busy machine is slow. See PATIENCE in the harness.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 300_000, interval: 50 } },
  },
});
