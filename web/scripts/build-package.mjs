/** Builds the npm package `@dovetail/react` and packs it: `node scripts/build-package.mjs <folder of the tarball>`. */

import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("..", import.meta.url));
const REPOSITORY = join(WEB, "..");
const NOT_NEEDED = /^(@fontsource|react$|react-dom$)/;

const goal = resolve(process.argv[2] ?? join(REPOSITORY, "dist"));
const folder = mkdtempSync(join(tmpdir(), "dovetail-react-"));
try {
  run("vite", "build", "--config", "vite.package.config.ts", "--outDir", folder, "--emptyOutDir", "--logLevel", "warn");
  run("tsc", "-p", "tsconfig.package.json", "--outDir", join(folder, "types"));
  copyFileSync(join(WEB, "src/protocol/dovetail.d.ts"), join(folder, "types/protocol/dovetail.d.ts"));
  for (const file of listFiles(join(folder, "types"), ".d.ts")) makeRelative(join(folder, "types"), file);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(describe(), null, 2)}\n`);
  copyFileSync(join(WEB, "package/README.md"), join(folder, "README.md"));
  copyFileSync(join(REPOSITORY, "LICENSE"), join(folder, "LICENSE"));
  mkdirSync(goal, { recursive: true });
  const packed = execFileSync("npm", ["pack", "--pack-destination", goal, "--silent"], {
    cwd: folder,
    encoding: "utf8",
  });
  process.stdout.write(`${join(goal, packed.trim())}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(program, ...options) {
  execFileSync(join(WEB, "node_modules/.bin", program), options, { cwd: WEB, stdio: ["ignore", "inherit", "inherit"] });
}

function listFiles(place, ending) {
  return readdirSync(place, { recursive: true }).filter((file) => file.endsWith(ending));
}

/** Declarations name our modules as `@/…`, which only our own compiler settings understand. */
function makeRelative(types, file) {
  const path = join(types, file);
  const place = dirname(file);
  const text = readFileSync(path, "utf8")
    .replace(/^import "@\/.*\.css";\n/gm, "")
    .replace(/"@\/([^"]+)"/g, (_, target) => {
      const module = existsSync(join(types, `${target}.d.ts`)) ? `${target}.js` : `${target}/index.js`;
      const found = relative(place, module);
      return `"${found.startsWith(".") ? found : `./${found}`}"`;
    });
  writeFileSync(path, text);
}

function describe() {
  const { dependencies } = JSON.parse(readFileSync(join(WEB, "package.json"), "utf8"));
  const code = listFiles(folder, ".js").map((file) => readFileSync(join(folder, file), "utf8"));
  const isUsed = (name) => code.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`));
  const needed = Object.entries(dependencies).filter(([name]) => !NOT_NEEDED.test(name) && isUsed(name));
  const [, version] = /__version__ = "(.+)"/.exec(readFileSync(join(REPOSITORY, "src/dovetail/version.py"), "utf8"));
  return {
    name: "@dovetail/react",
    version,
    description: "Hooks and parts for pages that chat with a Dovetail server.",
    license: /license = "(.+)"/.exec(readFileSync(join(REPOSITORY, "pyproject.toml"), "utf8"))?.[1],
    type: "module",
    sideEffects: ["**/*.css"],
    main: "./index.js",
    types: "./types/library/index.d.ts",
    exports: {
      ".": { types: "./types/library/index.d.ts", default: "./index.js" },
      "./style.css": "./style.css",
      "./package.json": "./package.json",
    },
    dependencies: Object.fromEntries(needed.map(([name, exact]) => [name, `^${exact}`])),
    peerDependencies: { react: ">=19", "react-dom": ">=19" },
  };
}
