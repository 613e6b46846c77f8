import katex from "katex";
import "katex/dist/katex.min.css";
import { useEffect, useRef } from "react";

/** A formula; drawn into a node of its own, because a strict content security policy forbids inline styles in markup. */
export default function MathView({ source, isBlock }: { source: string; isBlock: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (place.current === null) return;
    katex.render(source, place.current, { displayMode: isBlock, throwOnError: false, strict: "ignore", trust: false });
  }, [source, isBlock]);
  return <span ref={place} className={isBlock ? "block overflow-x-auto py-1" : undefined} />;
}
