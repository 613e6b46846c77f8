import { ChevronDown, Paperclip, SlidersHorizontal } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";

interface ComposerToolsProps {
  onFiles: (files: File[]) => void;
  /** What is chosen for this chat: its agent, model and mode. */
  pickers: ReactNode;
  /** The choices in a few words, for narrow screens. */
  summary: string;
  /** Whether the chat has instructions or parameters of its own; null if they cannot be changed. */
  hasOptions: boolean | null;
  onOptions: () => void;
  /** The buttons at the right. */
  children: ReactNode;
}

/** The row below the text; where it is narrow, the pickers are in a part that opens above it. */
export function ComposerTools({ onFiles, pickers, summary, hasOptions, onOptions, children }: ComposerToolsProps) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const optionsLabel = hasOptions ? t.chatOptionsSet : t.chatOptions;
  return (
    <div className="@container">
      <div className="flex flex-wrap items-center gap-1 p-2 pt-1">
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            onFiles([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        <IconButton label={t.attach} onClick={() => chooser.current?.click()}>
          <Paperclip size={16} />
        </IconButton>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`${t.chatSettings}: ${summary}`}
          onClick={() => setOpen(!isOpen)}
          className="flex h-8 min-w-0 flex-1 items-center gap-1.5 rounded-lg px-2 text-[13px] text-soft hover:bg-raised hover:text-ink @md:hidden"
        >
          <span className="truncate">{isOpen ? t.chatSettings : summary}</span>
          {hasOptions ? <Mark /> : null}
          <ChevronDown
            size={14}
            className={`shrink-0 transition-transform ${isOpen ? "" : "rotate-180"}`}
            aria-hidden="true"
          />
        </button>
        <div
          className={`items-center gap-1 @max-md:order-first @max-md:basis-full @max-md:flex-wrap @max-md:pb-1 @md:flex @md:min-w-0 @md:flex-1 ${isOpen ? "flex" : "hidden"}`}
        >
          {pickers}
          {hasOptions === null ? null : (
            <IconButton label={optionsLabel} onClick={onOptions} className="relative">
              <SlidersHorizontal size={15} />
              {hasOptions ? <Mark className="absolute top-1.5 right-1.5" /> : null}
            </IconButton>
          )}
        </div>
        {children}
      </div>
    </div>
  );
}

/** Something was changed here. */
function Mark({ className = "" }: { className?: string }) {
  return <span className={`size-1.5 shrink-0 rounded-full bg-accent ${className}`} aria-hidden="true" />;
}
