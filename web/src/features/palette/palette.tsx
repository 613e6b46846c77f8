import { Search } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { type Command, findCommands, isTitle, joinHits } from "@/features/palette/find";
import { useText } from "@/text/text";
import { MarkedText } from "@/ui/marked-text";

const PAUSE = 150;

interface PaletteProps {
  commands: readonly Command[];
  /** Finds more by the words themselves; called after a pause in typing. */
  search: (query: string) => Promise<Command[]>;
  onClose: () => void;
}

/** All commands, found by typing a few letters of their names, and what the chats contain. */
export function Palette({ commands, search, onClose }: PaletteProps) {
  const t = useText();
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [choice, setChoice] = useState(0);
  const { hits, isSearching } = useHits(query.trim(), search);
  const found = useMemo(() => joinHits(findCommands(commands, query), hits), [commands, query, hits]);
  const titles = found.findLastIndex(isTitle) + 1;
  const chosen = found[choice];
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (chosen !== undefined) document.getElementById(optionId(chosen))?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  const run = (command: Command) => {
    onClose();
    command.run();
  };
  const onKey = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) setChoice((choice + step + found.length) % found.length);
    else if (event.key === "Enter" && chosen !== undefined) run(chosen);
    else return;
    event.preventDefault();
  };
  const draw = (command: Command) => (
    <Option key={command.id} command={command} query={query} isChosen={command === chosen} onRun={() => run(command)} />
  );
  return (
    <dialog
      ref={dialog}
      aria-label={t.palette}
      onClose={onClose}
      onPointerDown={(event) => event.target === dialog.current && onClose()}
      className="mx-auto mt-[14vh] w-[min(36rem,calc(100vw-2rem))] rounded-2xl border border-line bg-surface p-0 text-ink shadow-float backdrop:bg-black/25"
    >
      <label className="flex items-center gap-3 border-b border-line px-4">
        <Search size={16} className="shrink-0 text-faint" aria-hidden="true" />
        <span className="sr-only">{t.palette}</span>
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={chosen ? optionId(chosen) : undefined}
          value={query}
          placeholder={t.palettePlaceholder}
          onChange={(event) => {
            setQuery(event.target.value);
            setChoice(0);
          }}
          onKeyDown={onKey}
          className="h-12 w-full bg-transparent"
        />
      </label>
      <div id="palette-list" role="listbox" aria-label={t.palette} className="max-h-[50vh] overflow-y-auto p-1.5">
        {found.slice(0, titles).map(draw)}
        {titles < found.length ? (
          // biome-ignore lint/a11y/useSemanticElements: options of a list box are grouped by this role
          <div role="group" aria-label={t.inMessages}>
            <p aria-hidden="true" className="px-3 pt-2 pb-1 text-[12px] font-medium text-faint">
              {t.inMessages}
            </p>
            {found.slice(titles).map(draw)}
          </div>
        ) : null}
        {found.length === 0 && !isSearching ? (
          <p className="px-3 py-2 text-[14px] text-faint">{t.nothingFound}</p>
        ) : null}
      </div>
    </dialog>
  );
}

const optionId = (command: Command) => `command-${command.id}`;

interface OptionProps {
  command: Command;
  query: string;
  isChosen: boolean;
  onRun: () => void;
}

function Option({ command, query, isChosen, onRun }: OptionProps) {
  return (
    <div
      id={optionId(command)}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onPointerDown={onRun}
      className="flex cursor-pointer items-center gap-3 rounded-lg px-3 py-2 text-[14px] hover:bg-raised aria-selected:bg-raised"
    >
      <span className="min-w-0 flex-1">
        <span className="block truncate">{command.name}</span>
        {command.snippet === undefined ? null : (
          <span className="line-clamp-2 text-[12.5px] leading-[1.45] text-soft">
            <MarkedText text={command.snippet} query={query} />
          </span>
        )}
      </span>
      {command.keys ? <kbd className="shrink-0 font-sans text-[12px] text-faint">{command.keys}</kbd> : null}
    </div>
  );
}

const NONE: readonly Command[] = [];

/** What a search has found; the former hits stay until the new ones are there. */
function useHits(query: string, search: PaletteProps["search"]): { hits: readonly Command[]; isSearching: boolean } {
  const [found, setFound] = useState({ query: "", hits: NONE });
  useEffect(() => {
    if (query === "") return;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const hits = await search(query).catch(() => NONE);
      if (isCurrent) setFound({ query, hits });
    }, PAUSE);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query, search]);
  return query === "" ? { hits: NONE, isSearching: false } : { hits: found.hits, isSearching: found.query !== query };
}
