import { CornerLeftUp } from "lucide-react";
import { createContext, type ReactNode, useContext } from "react";
import { useText } from "@/text/text";

/** Distinguishes the footnotes of one text from those of the others on the page. */
export const FootnoteScope = createContext("");

function go(id: string): void {
  const place = document.getElementById(id);
  place?.scrollIntoView({ block: "center" });
  place?.focus({ preventScroll: true });
}

/** The mark in the text; it leads to the footnote. The address of the page names the chat, so it is not a link. */
export function FootnoteMark({ name }: { name: string }) {
  const t = useText();
  const scope = useContext(FootnoteScope);
  return (
    <sup>
      <button
        type="button"
        id={`${scope}-mark-${name}`}
        aria-label={t.footnote(name)}
        onClick={() => go(`${scope}-note-${name}`)}
        className="rounded px-0.5 leading-none text-accent hover:underline"
      >
        {name}
      </button>
    </sup>
  );
}

/** A footnote with the way back to its mark. */
export function FootnoteFrame({ name, children }: { name: string; children: ReactNode }) {
  const t = useText();
  const scope = useContext(FootnoteScope);
  return (
    <div role="note" tabIndex={-1} id={`${scope}-note-${name}`} aria-label={t.footnote(name)} className="footnote">
      <span aria-hidden="true">{name}</span>
      <div>{children}</div>
      <button type="button" aria-label={t.backToText(name)} onClick={() => go(`${scope}-mark-${name}`)}>
        <CornerLeftUp size={13} aria-hidden="true" />
      </button>
    </div>
  );
}
