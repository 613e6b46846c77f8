/** Has diagrams drawn in a frame of their own (`diagram.html`), which is loaded with the first one. */

const LIMIT = 20_000;

interface Waiting {
  resolve: (svg: string) => void;
  reject: (error: Error) => void;
}

class DiagramFrame {
  readonly #waiting = new Map<number, Waiting>();
  #frame: Promise<HTMLIFrameElement> | null = null;
  #last = 0;

  /** The diagram as an SVG file; fails with the complaint of the parser. */
  async draw(source: string, isDark: boolean): Promise<string> {
    this.#frame ??= this.#open();
    const frame = await this.#frame;
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(id, null, "The diagram took too long."), LIMIT);
      const finish = (end: () => void) => {
        clearTimeout(timer);
        end();
      };
      this.#waiting.set(id, {
        resolve: (svg) => finish(() => resolve(svg)),
        reject: (error) => finish(() => reject(error)),
      });
      frame.contentWindow?.postMessage({ id, source, isDark }, location.origin);
    });
  }

  #open(): Promise<HTMLIFrameElement> {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-same-origin");
    frame.title = "";
    frame.tabIndex = -1;
    frame.ariaHidden = "true";
    // It must be laid out, because texts are measured in it, but it is never seen.
    frame.className = "pointer-events-none fixed top-0 -left-[4000px] h-[800px] w-[1200px] opacity-0";
    frame.src = "/diagram.html";
    const ready = new Promise<HTMLIFrameElement>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#frame = null;
        frame.remove();
        reject(new Error("Diagrams cannot be drawn here."));
      }, LIMIT);
      addEventListener("message", ({ source, data, origin }) => {
        if (source !== frame.contentWindow || origin !== location.origin) return;
        if (data.isReady === true) {
          clearTimeout(timer);
          resolve(frame);
        } else this.#end(data.id, data.svg ?? null, String(data.error ?? ""));
      });
    });
    document.body.append(frame);
    return ready;
  }

  #end(id: number, svg: string | null, error: string): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (svg !== null) waiting?.resolve(svg);
    else waiting?.reject(new Error(error));
  }
}

const frame = new DiagramFrame();
const drawn = new Map<string, Promise<string>>();

/** Draws a diagram once per theme; the result is kept as long as the page is open. */
export function drawDiagram(source: string, isDark: boolean): Promise<string> {
  const key = `${isDark} ${source}`;
  const known = drawn.get(key) ?? frame.draw(source, isDark);
  if (!drawn.has(key)) {
    if (drawn.size > 100) drawn.clear();
    drawn.set(key, known);
    known.catch(() => drawn.delete(key));
  }
  return known;
}
