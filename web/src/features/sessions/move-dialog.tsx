import { Check, Folder, FolderPlus, Inbox } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { SessionStore } from "@/features/sessions/session-store";
import type { SessionSummary } from "@/protocol/session";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { TextField } from "@/ui/field";

interface MoveDialogProps {
  session: SessionSummary;
  store: SessionStore;
  onClose: () => void;
}

/** Puts a chat into a folder, a new one, or none. */
export function MoveDialog({ session, store, onClose }: MoveDialogProps) {
  const t = useText();
  const [name, setName] = useState("");
  const { folders } = store.read();
  const move = (folder: string | null) => {
    onClose();
    void store.move(session.id, folder);
  };
  return (
    <Dialog title={t.moveToFolder} onClose={onClose}>
      <ul className="-mx-2 mb-3">
        <Choice
          icon={<Inbox size={15} />}
          name={t.noFolder}
          isChosen={session.folder === null}
          onChoose={() => move(null)}
        />
        {folders.map((folder) => (
          <Choice
            key={folder.name}
            icon={<Folder size={15} />}
            name={folder.name}
            isChosen={session.folder === folder.name}
            onChoose={() => move(folder.name)}
          />
        ))}
      </ul>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") move(name.trim());
        }}
      >
        <div className="flex-1">
          <TextField name={t.newFolder} value={name} onChange={setName} />
        </div>
        <Button type="submit" disabled={name.trim() === ""}>
          <FolderPlus size={14} aria-hidden="true" /> {t.add}
        </Button>
      </form>
    </Dialog>
  );
}

function Choice(props: { icon: ReactNode; name: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <li>
      <button
        type="button"
        aria-pressed={props.isChosen}
        onClick={props.onChoose}
        className="flex w-full items-center gap-2.5 rounded-lg px-2 py-1.5 text-left text-[13.5px] hover:bg-raised"
      >
        <span className="text-faint">{props.icon}</span>
        <span className="min-w-0 flex-1 truncate">{props.name}</span>
        {props.isChosen ? <Check size={15} className="text-accent" aria-hidden="true" /> : null}
      </button>
    </li>
  );
}
