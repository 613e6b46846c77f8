import type { ReactNode } from "react";

/** Text as it is, in a block that scrolls; reachable by keyboard, because nothing inside it is. */
export function ScrollBlock({ className = "", children }: { className?: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre tabIndex={0} className={`overflow-auto font-mono leading-[1.6] ${className}`}>
      {children}
    </pre>
  );
}
