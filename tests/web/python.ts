/** Programs in Python that serve the pages of the tests. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { PATIENCE } from "../../web/patience";

const HERE = import.meta.dirname;
const REPOSITORY = join(HERE, "..", "..");
const FAREWELL = 10_000;

/** A program that prints lines, and ends when its input closes. */
export class Program {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** Starts a file of this folder, and shows its errors if they are not part of the test. */
  constructor(file: string, errors: "inherit" | "ignore" = "inherit") {
    const own = join(REPOSITORY, ".venv", "bin", "python");
    const python = process.env["DOVETAIL_PYTHON"] ?? (existsSync(own) ? own : "python3");
    const source = process.env["PYTHONPATH"] ?? join(REPOSITORY, "src");
    const env = { ...process.env, PYTHONPATH: [source, join(REPOSITORY, "tests")].join(delimiter) };
    this.#process = spawn(python, [join(HERE, file)], { stdio: ["pipe", "pipe", errors], env });
    if (this.#process.stdout === null) throw new Error(`${file} has no output`);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** The next line that it prints. */
  async read(): Promise<string> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no line of the program within ${PATIENCE} ms`)), PATIENCE);
    });
    try {
      const { value, done } = await Promise.race([this.#lines.next(), late]);
      if (done) throw new Error(`the program ended early, with code ${this.#process.exitCode}`);
      return value;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends it a line. */
  write(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  /** Closes its input, which makes it exit; kills it if it does not. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), FAREWELL);
    this.#process.stdin?.end();
    await once(this.#process, "exit");
    clearTimeout(timer);
  }
}
