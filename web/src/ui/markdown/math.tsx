import katex from "katex";
import "katex/dist/katex.min.css";
import { useEffect, useRef } from "react";

/** A formula beyond these limits is shown as its source: unlimited nesting cannot be laid out. */
const MAX_LENGTH = 5000;
const MAX_DEPTH = 40;

function isDrawable(source: string): boolean {
  if (source.length > MAX_LENGTH) return false;
  let depth = 0;
  for (const character of source) {
    if (character === "{") depth++;
    else if (character === "}") depth--;
    if (depth > MAX_DEPTH) return false;
  }
  return (source.match(/\\left\b|\\begin\b/g)?.length ?? 0) <= MAX_DEPTH;
}

/** A formula, rendered into its own node because a strict content security policy forbids inline styles in markup. */
export default function MathView({ source, isBlock }: { source: string; isBlock: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (place.current === null) return;
    if (!isDrawable(source)) place.current.textContent = source;
    else
      katex.render(source, place.current, {
        displayMode: isBlock,
        throwOnError: false,
        strict: "ignore",
        trust: false,
      });
  }, [source, isBlock]);
  return <span ref={place} className={isBlock ? "block overflow-x-auto py-1" : undefined} />;
}
