import type { ReactNode } from "react";

/** Preformatted text in a scrolling block that can be focused, because nothing inside it can. */
export function ScrollBlock({ className = "", children }: { className?: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <pre tabIndex={0} className={`overflow-auto font-mono leading-[1.6] ${className}`}>
      {children}
    </pre>
  );
}
