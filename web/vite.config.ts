import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

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

export default defineConfig({
  plugins: [react(), tailwindcss(), modernFontsOnly()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/api": server, "/ai": server, "/healthz": server } },
  build: {
    target: "es2022",
    // A strict content security policy forbids `data:` scripts and fonts, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
