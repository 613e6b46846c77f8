import { BellDot } from "lucide-react";
import { lazy, Suspense, useEffect, useId, useRef, useState } from "react";
import type { WaitingStore } from "@/features/attention/waiting-store";
import type { WaitingAsk } from "@/protocol/feed";
import { useText } from "@/text/text";
import { Spinner } from "@/ui/spinner";
import { useStore } from "@/ui/store";

const WaitingList = lazy(async () => ({
  default: (await import("@/features/attention/waiting-list")).WaitingList,
}));

function Loading() {
  const t = useText();
  return (
    <p role="status" className="flex items-center gap-2.5 px-4 py-3.5 text-[13px] text-faint">
      <Spinner /> {t.loading}
    </p>
  );
}

interface WaitingButtonProps {
  store: WaitingStore;
  onAnswer: (ask: WaitingAsk, isApproved: boolean) => Promise<void>;
  onOpen: (ask: WaitingAsk) => void;
}

/** How many things wait over all chats; it opens the list of them, and is not there if nothing waits. */
export function WaitingButton({ store, onAnswer, onOpen }: WaitingButtonProps) {
  const t = useText();
  const { asks } = useStore(store);
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return;
    const onPointer = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [isOpen]);
  if (asks.length === 0 && !isOpen) return null;
  const close = () => {
    setOpen(false);
    trigger.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the list inside
    <div
      ref={root}
      className="relative flex"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={trigger}
        type="button"
        aria-label={t.waitingList(asks.length)}
        title={t.waitingList(asks.length)}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="inline-flex h-8 items-center gap-1.5 rounded-lg bg-accent-soft px-2.5 text-[13px] font-medium text-accent hover:opacity-85"
      >
        <BellDot size={15} aria-hidden="true" />
        {asks.length}
      </button>
      {isOpen ? (
        <section
          id={id}
          aria-label={t.waitingList(asks.length)}
          className="absolute top-full right-0 z-30 mt-1 max-h-[min(32rem,80dvh)] w-[min(24rem,calc(100vw-1.5rem))] animate-rise overflow-y-auto rounded-xl border border-line bg-surface shadow-float max-md:fixed max-md:inset-x-3 max-md:top-14 max-md:w-auto"
        >
          <Suspense fallback={<Loading />}>
            <WaitingList
              asks={asks}
              onAnswer={onAnswer}
              onOpen={(ask) => {
                setOpen(false);
                onOpen(ask);
              }}
            />
          </Suspense>
        </section>
      ) : null}
    </div>
  );
}
