import { CalendarClock, Download, Ellipsis, FileText, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { SessionSummary } from "@/protocol/session";
import { useText } from "@/text/text";
import { Menu, MenuItem } from "@/ui/menu";

interface SessionRowProps {
  session: SessionSummary;
  isOpen: boolean;
  onOpen: () => void;
  onRename: (title: string) => void;
  onRemove: () => void;
  exportAddress: (format: "json" | "markdown") => string;
}

export function SessionRow({ session, isOpen, onOpen, onRename, onRemove, exportAddress }: SessionRowProps) {
  const t = useText();
  const [isEditing, setEditing] = useState(false);
  const title = session.title || t.untitled;
  if (isEditing) {
    return <TitleField title={title} onDone={() => setEditing(false)} onRename={onRename} />;
  }
  return (
    <li
      className={`group relative flex items-center rounded-lg ${isOpen ? "bg-raised" : "hover:bg-raised focus-within:bg-raised"}`}
    >
      <button
        type="button"
        onClick={onOpen}
        aria-current={isOpen ? "page" : undefined}
        className="min-w-0 flex-1 truncate rounded-lg px-2.5 py-1.5 text-left text-[13.5px]"
      >
        {title}
      </button>
      {session.origin?.kind === "schedule" ? (
        <CalendarClock size={13} className="mr-2 shrink-0 text-faint" aria-label={t.scheduledChat} />
      ) : null}
      {session.isRunning ? (
        <span className="mr-2 size-1.5 animate-breathe rounded-full bg-accent" aria-hidden="true" />
      ) : null}
      <div className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
        <Menu label={`${t.moreActions}: ${title}`} face={<Ellipsis size={15} />} className="!h-7 !min-w-7 !px-0">
          <MenuItem onSelect={() => setEditing(true)}>
            <Pencil size={14} aria-hidden="true" /> {t.rename}
          </MenuItem>
          <MenuItem onSelect={() => download(exportAddress("markdown"))}>
            <FileText size={14} aria-hidden="true" /> {t.exportMarkdown}
          </MenuItem>
          <MenuItem onSelect={() => download(exportAddress("json"))}>
            <Download size={14} aria-hidden="true" /> {t.exportJson}
          </MenuItem>
          <MenuItem isDanger onSelect={() => confirm(t.removeQuestion(title)) && onRemove()}>
            <Trash2 size={14} aria-hidden="true" /> {t.remove}
          </MenuItem>
        </Menu>
      </div>
    </li>
  );
}

function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

function TitleField(props: { title: string; onDone: () => void; onRename: (title: string) => void }) {
  const t = useText();
  const [title, setTitle] = useState(props.title);
  const finish = (save: boolean) => {
    props.onDone();
    if (save && title.trim() !== "" && title !== props.title) props.onRename(title.trim());
  };
  return (
    <li className="px-1 py-0.5">
      <input
        // biome-ignore lint/a11y/noAutofocus: the field replaces the row that was just acted on
        autoFocus
        aria-label={t.rename}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={() => finish(true)}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish(true);
          if (event.key === "Escape") finish(false);
        }}
        className="w-full rounded-md bg-surface px-2 py-1 text-[13.5px] ring-1 ring-accent"
      />
    </li>
  );
}
