import { useLayoutEffect, useRef } from "react";
import { hasColors, readAnsi, stripAnsi } from "@/features/tool-cards/ansi";
import { showControls } from "@/text/visible";
import { ScrollBlock } from "@/ui/scroll-block";

/** Text as a program has written it, with the colours of a terminal. */
export function Plain({ text, isError = false }: { text: string; isError?: boolean }) {
  return (
    <ScrollBlock className={`max-h-80 text-[12.5px] break-words whitespace-pre-wrap ${isError ? "text-danger" : ""}`}>
      {hasColors(text) ? readAnsi(text).map(drawSpan) : showControls(text)}
    </ScrollBlock>
  );
}

function drawSpan({ text, className }: { text: string; className: string }, index: number) {
  return className === "" ? (
    showControls(text)
  ) : (
    <span key={index} className={className}>
      {showControls(text)}
    </span>
  );
}

const LINES = 200;

/** The end of an output that is still being written; it follows the newest line. */
export function LiveTail({ output }: { output: unknown }) {
  const text = typeof output === "string" ? output : JSON.stringify(output, null, 2);
  const frame = useRef<HTMLPreElement>(null);
  const shown = stripAnsi(text).trimEnd().split("\n").slice(-LINES).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a longer text is scrolled to its end
  useLayoutEffect(() => {
    frame.current?.scrollTo(0, frame.current.scrollHeight);
  }, [shown]);
  return (
    <pre
      ref={frame}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
      className="max-h-40 overflow-auto font-mono text-[12.5px] leading-[1.6] break-words whitespace-pre-wrap text-soft"
    >
      {showControls(shown)}
    </pre>
  );
}
