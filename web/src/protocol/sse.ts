/** Server-sent events without I/O: text in, whole events out, wherever the network cut them. */

export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

export class EventSplitter {
  #rest = "";
  #id: string | null = null;
  #event = "message";
  #data: string[] = [];

  /** The events that are complete after this piece of text. */
  feed(piece: string): ServerEvent[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line !== "") this.#field(line);
      else if (this.#data.length > 0) events.push(this.#take());
    }
    return events;
  }

  #take(): ServerEvent {
    const event = { id: this.#id, event: this.#event, data: this.#data.join("\n") };
    this.#data = [];
    this.#event = "message";
    return event;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id") this.#id = value;
  }
}
