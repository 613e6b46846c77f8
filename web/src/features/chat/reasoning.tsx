import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { useText } from "@/text/text";
import { Markdown } from "@/ui/markdown/markdown";

/** The model's reasoning before the answer, collapsed so that the answer stays in focus. */
export function Reasoning({ text, isLive }: { text: string; isLive: boolean }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  if (text.trim() === "" && !isLive) return null;
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="-ml-1.5 flex items-center gap-1 rounded-md px-1.5 py-0.5 text-[13.5px] text-faint hover:text-ink"
      >
        <span className={isLive ? "animate-breathe" : ""}>{isLive ? t.thinking : t.thought}</span>
        <ChevronRight size={14} aria-hidden="true" className={`transition-transform ${isOpen ? "rotate-90" : ""}`} />
      </button>
      {isOpen ? (
        <div className="mt-1.5 border-l-2 border-line pl-4 text-[14px] text-soft">
          <Markdown text={text} isStreaming={isLive} />
        </div>
      ) : null}
    </div>
  );
}
