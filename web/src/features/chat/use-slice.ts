import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { placeOf } from "@/features/chat/reading-place";
import { NEWEST, rangeOf, sliceAround, withNewer, withOlder } from "@/features/chat/slice";
import type { ThreadProps } from "@/features/chat/thread";
import { useChatState, useOlder } from "@/features/chat/use-chat";
import type { ChatMessage } from "@/protocol/message";

interface SliceView {
  /** The messages to render. */
  shown: readonly ChatMessage[];
  thread: Omit<ThreadProps, "children">;
  /** Shows another version of a message, which stays in sight. */
  switchTo: (messageId: string) => Promise<void>;
}

/** The rendered part of the chat, which grows while the reader scrolls, and jumps to the message in the address. */
export function useSlice(target: string | null = null): SliceView {
  const { messages } = useChatState();
  const { session, older } = useOlder();
  const [slice, setSlice] = useState(() => sliceAround(messages, placeOf(session.id) ?? ""));
  const [aim, setAim] = useState<{ address: string | null; message: string | null }>({ address: null, message: null });
  const isTargetKnown = messages.some((message) => message.id === target);
  if (isTargetKnown && target !== aim.address) {
    setAim({ address: target, message: target });
    setSlice(sliceAround(messages, target ?? ""));
  }
  const { start, end } = rangeOf(slice, messages);
  const shown = messages.slice(start, end);
  const first = shown[0]?.id ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another branch is shown from its messages on
  const branch = useMemo(() => session.branch, [session, messages]);
  const latest = useRef(slice);
  useLayoutEffect(() => {
    latest.current = slice;
  });
  const onOlder = async () => {
    if (start === 0) await session.loadOlder();
    if (first !== null) setSlice((now) => withOlder(now, session.state.read().messages, first));
  };
  const switchTo = useCallback(
    async (id: string) => {
      await session.switchTo(id);
      const path = session.state.read().messages;
      const range = rangeOf(latest.current, path);
      if (path.slice(range.start, range.end).some((message) => message.id === id)) return;
      setSlice(sliceAround(path, id));
      setAim((now) => ({ ...now, message: id }));
    },
    [session],
  );
  return {
    shown,
    switchTo,
    thread: {
      chatId: session.id,
      branch,
      questions: older + messages.findLastIndex((message) => message.role === "user"),
      target: shown.some((message) => message.id === aim.message) ? aim.message : null,
      first,
      hasOlder: start > 0 || older > 0,
      hasNewer: end < messages.length,
      onOlder,
      onNewer: () => setSlice((now) => withNewer(now, messages)),
      onNewest: () => setSlice(NEWEST),
    },
  };
}
