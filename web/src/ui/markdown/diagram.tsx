import { useEffect, useRef, useState } from "react";
import { useText } from "@/text/text";
import { CopyButton } from "@/ui/copy-button";
import { CodeBlock } from "@/ui/markdown/code-block";
import { drawDiagram } from "@/ui/markdown/diagram-frame";

type Drawn = { state: "waiting" } | { state: "failed"; message: string } | { state: "there"; address: string };

/** A mermaid diagram as a picture, drawn when it comes into sight; its source on request, and if it cannot be drawn. */
export default function Diagram({ source }: { source: string }) {
  const t = useText();
  const place = useRef<HTMLDivElement>(null);
  const isDark = useIsDark();
  const isSeen = useIsSeen(place);
  const [drawn, setDrawn] = useState<Drawn>({ state: "waiting" });
  const [isSource, setSource] = useState(false);
  useEffect(() => {
    if (!isSeen) return;
    let address: string | null = null;
    let isCurrent = true;
    drawDiagram(source, isDark).then(
      (svg) => {
        if (!isCurrent) return;
        address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
        setDrawn({ state: "there", address });
      },
      (error: Error) => isCurrent && setDrawn({ state: "failed", message: error.message }),
    );
    return () => {
      isCurrent = false;
      if (address !== null) URL.revokeObjectURL(address);
    };
  }, [source, isDark, isSeen]);
  if (drawn.state !== "there" || isSource) {
    return (
      <div ref={place}>
        <CodeBlock code={source} language="mermaid" />
        {drawn.state === "failed" ? (
          <p className="mt-1.5 text-[13px] text-soft">{t.diagramFailed(drawn.message.split("\n", 1)[0] ?? "")}</p>
        ) : null}
        {drawn.state === "there" ? <Toggle words={t.showDiagram} onClick={() => setSource(false)} /> : null}
      </div>
    );
  }
  return (
    <figure ref={place} aria-label={t.diagram}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <div tabIndex={0} className="overflow-x-auto rounded-[10px] border border-line bg-surface p-4">
        <img src={drawn.address} alt={t.diagram} className="diagram" />
      </div>
      <figcaption className="flex items-center gap-1">
        <Toggle words={t.showSource} onClick={() => setSource(true)} />
        <CopyButton text={source} label={t.copySource} />
      </figcaption>
    </figure>
  );
}

function Toggle({ words, onClick }: { words: string; onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="mt-1 rounded-md px-1.5 py-0.5 text-[13px] text-soft hover:text-ink"
    >
      {words}
    </button>
  );
}

function isDarkNow(): boolean {
  return document.documentElement.dataset["theme"] === "dark";
}

/** Whether the page is dark. */
function useIsDark(): boolean {
  const [isDark, setDark] = useState(isDarkNow);
  useEffect(() => {
    const observer = new MutationObserver(() => setDark(isDarkNow()));
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => observer.disconnect();
  }, []);
  return isDark;
}

/** Whether the place has come into sight. */
function useIsSeen(place: React.RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null || isSeen) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true), {
      rootMargin: "200px",
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [place, isSeen]);
  return isSeen;
}
