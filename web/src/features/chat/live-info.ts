/** What a conversation exposes besides its messages, for subscribers. */

import type { Schedule } from "@/features/chat/chat-state";
import { type DataChunk, NOTHING, type SessionEvents, type SessionInfo } from "@/features/chat/session-info";
import { parseAsk } from "@/protocol/ask";
import type { RunEntry } from "@/protocol/events.gen";
import { takenMessage } from "@/protocol/inbox";
import { entriesOf } from "@/protocol/journal";
import type { MessagePart } from "@/protocol/message";
import { parseModelProgress } from "@/protocol/model-progress";
import { foldEntry } from "@/protocol/run-fold";
import { isRecord, record, text } from "@/protocol/shapes";
import { Store } from "@/ui/store";

export class LiveInfo extends Store<SessionInfo> {
  #subAgents = NOTHING.subAgents;
  #isNotifying = false;

  constructor(private readonly schedule: Schedule) {
    super(NOTHING);
  }

  set(change: Partial<SessionInfo>): void {
    this.change({ ...change, subAgents: this.#subAgents });
  }

  /** Keeps what a data part of the stream says at this end of the chat, and passes on asks and notices. */
  take(part: DataChunk, events: SessionEvents, at: string): void {
    const progress = parseModelProgress(part);
    if (progress !== null) this.set({ progress: { ...progress, at } });
    if (part.type === "data-subagent-event") this.watchSubAgents(entriesOf(part.data));
    if (takenMessage(part as MessagePart)?.kind === "notice") events.onNotice?.();
    if (part.type === "data-ask-answer") this.#forget(text(record(part.data)["ask_id"]));
    const ask = part.type === "data-ask" && isRecord(part.data) ? parseAsk(part.data) : null;
    if (ask === null) return;
    this.set({ asks: { ...this.read().asks, [ask.id]: ask } });
    events.onAsk?.(ask);
  }

  /** Drops a question that was answered, here or elsewhere. */
  #forget(id: string): void {
    const { [id]: _, ...asks } = this.read().asks;
    this.set({ asks });
  }

  /** Adds entries of sub-agents; subscribers hear of them once per frame, because sub-agents stream token by token. */
  watchSubAgents(entries: readonly RunEntry[]): void {
    this.#subAgents = entries.filter((entry) => entry.path.length > 1).reduce(foldEntry, this.#subAgents);
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    this.schedule(() => {
      this.#isNotifying = false;
      this.set({});
    });
  }
}
