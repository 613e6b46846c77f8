/** Builds the package `@dovetail/react` from `src/library`; `scripts/build-package.mjs` adds the rest. */

import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  plugins: [react(), tailwindcss()],
  publicDir: false,
  resolve: { alias: { "@": here("./src") } },
  build: {
    target: "es2022",
    minify: false,
    lib: { entry: here("./src/library/index.ts"), formats: ["es"], fileName: "index", cssFileName: "style" },
    // Other packages are dependencies, not part of this one.
    rolldownOptions: { external: (id) => !/^(@\/|[./]|\0)/.test(id) },
  },
});
