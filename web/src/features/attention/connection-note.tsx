import { useEffect, useRef, useState } from "react";
import type { FeedStore } from "@/features/attention/feed-store";
import { useText } from "@/text/text";
import { useStore } from "@/ui/store";

const SHOWN_FOR = 4000;

/** Says quietly that the server cannot be reached, and then for a moment that it is back. */
export function ConnectionNote({ feed }: { feed: FeedStore }) {
  const t = useText();
  const { isLost } = useStore(feed);
  const [isBack, setBack] = useState(false);
  const wasLost = useRef(false);
  useEffect(() => {
    if (isLost) {
      wasLost.current = true;
      setBack(false);
      return;
    }
    if (!wasLost.current) return;
    wasLost.current = false;
    setBack(true);
    const timer = setTimeout(() => setBack(false), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [isLost]);
  return (
    <p role="status" className={isLost || isBack ? "truncate px-2 text-[12.5px] text-faint" : "sr-only"}>
      {isLost ? t.connectionLost : isBack ? t.connectionBack : ""}
    </p>
  );
}
