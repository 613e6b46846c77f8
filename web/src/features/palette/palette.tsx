import { Search } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { type Command, findCommands } from "@/features/palette/find";
import { useText } from "@/text/text";

/** All commands, found by typing a few letters of their names. */
export function Palette({ commands, onClose }: { commands: readonly Command[]; onClose: () => void }) {
  const t = useText();
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [choice, setChoice] = useState(0);
  const found = useMemo(() => findCommands(commands, query), [commands, query]);
  useEffect(() => dialog.current?.showModal(), []);

  const run = (command: Command | undefined) => {
    onClose();
    command?.run();
  };
  const onKey = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) setChoice((choice + step + found.length) % found.length);
    else if (event.key === "Enter") run(found[choice]);
    else return;
    event.preventDefault();
  };
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
          aria-activedescendant={found[choice] ? `command-${found[choice].id}` : undefined}
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
        {found.map((command, index) => (
          <div
            key={command.id}
            id={`command-${command.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === choice}
            onPointerDown={() => run(command)}
            className="flex cursor-pointer items-center gap-3 rounded-lg px-3 py-2 text-[14px] hover:bg-raised aria-selected:bg-raised"
          >
            <span className="min-w-0 flex-1 truncate">{command.name}</span>
            {command.keys ? <kbd className="shrink-0 font-sans text-[12px] text-faint">{command.keys}</kbd> : null}
          </div>
        ))}
        {found.length === 0 ? <p className="px-3 py-2 text-[14px] text-faint">{t.noCommand}</p> : null}
      </div>
    </dialog>
  );
}
