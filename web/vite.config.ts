import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env["DOVETAIL_SERVER"] ?? "http://127.0.0.1:8000";

/** All supported browsers read woff2; older font formats would only make the package larger. */
function modernFontsOnly(): Plugin {
  return {
    name: "modern-fonts-only",
    enforce: "pre",
    transform: (code, id) =>
      id.endsWith("katex.min.css") ? code.replace(/,url\([^)]+\.(woff|ttf)\) format\("\w+"\)/g, "") : null,
  };
}

/** What modules of extension folders may use, for their authors' editors; `dovetail ext new --web` copies it. */
function shipTypes(): Plugin {
  return {
    name: "ship-types",
    generateBundle() {
      const source = readFileSync(new URL("./src/protocol/dovetail.d.ts", import.meta.url), "utf8");
      this.emitFile({ type: "asset", fileName: "dovetail.d.ts", source: source.replace(/^\/\/.*\n/, "") });
    },
  };
}

const COMPRESSED = { br: promisify(brotliCompress), gz: promisify(gzip) };

/** Writes `main.js.br` and `main.js.gz` next to `main.js`, which the server sends to browsers that accept them. */
function compressFiles(): Plugin {
  return {
    name: "compress-files",
    async writeBundle({ dir = "" }, bundle) {
      for (const name of Object.keys(bundle).filter((one) => /\.(js|css|html)$/.test(one))) {
        const content = await readFile(join(dir, name));
        for (const [ending, compress] of Object.entries(COMPRESSED)) {
          const smaller = await compress(content);
          if (smaller.length < content.length) await writeFile(join(dir, `${name}.${ending}`), smaller);
        }
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), modernFontsOnly(), shipTypes(), compressFiles()],
  resolve: {
    alias: [
      { find: "@", replacement: here("./src") },
      { find: /^zod(\/.*)?$/, replacement: here("./scripts/zod-stub.ts") },
    ],
  },
  server: { proxy: { "/api": server, "/ai": server, "/healthz": server } },
  build: {
    target: "es2022",
    // A strict content security policy forbids `data:` scripts and fonts, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1600,
    // Diagrams are drawn in a page of their own, see `src/app/diagram-frame.ts`.
    rollupOptions: {
      input: [here("./index.html"), here("./diagram.html")],
      // Small shared modules in one file each kind: a page of fifty files loads slowly over a network.
      output: {
        codeSplitting: {
          groups: [
            { name: "icons", test: /lucide-react/, minShareCount: 2 },
            {
              name: "base",
              test: /src\/(ui|protocol|transport|text\/(format|errors))/,
              minShareCount: 3,
              maxModuleSize: 6000,
            },
          ],
        },
      },
    },
  },
  // The limit guards against hangs: a busy machine is slow.
  test: { include: ["src/**/*.test.ts"], environment: "node", testTimeout: 300_000, hookTimeout: 300_000 },
});
