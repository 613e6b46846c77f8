import { ChevronRight, Ellipsis, FolderX, Pencil } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { OpenFolder, SessionStore } from "@/features/sessions/session-store";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Confirm, Dialog } from "@/ui/dialog";
import { TextField } from "@/ui/field";
import { Menu, MenuItem } from "@/ui/menu";

interface FolderRowProps {
  folder: OpenFolder;
  store: SessionStore;
  /** Its chats, when it is open. */
  children: ReactNode;
}

export function FolderRow({ folder, store, children }: FolderRowProps) {
  const t = useText();
  const [doing, setDoing] = useState<"rename" | "remove" | null>(null);
  const isOpen = folder.sessions !== null;
  const done = () => setDoing(null);
  return (
    <li>
      <div className="group/folder relative flex items-center rounded-lg hover:bg-raised focus-within:bg-raised">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => void store.toggle(folder.name)}
          className="flex min-w-0 flex-1 items-center gap-1.5 rounded-lg py-1.5 pr-2 pl-1.5 text-left text-[13.5px]"
        >
          <ChevronRight
            size={14}
            aria-hidden="true"
            className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <span className="min-w-0 flex-1 truncate">{folder.name}</span>
          <span className="text-[12px] text-faint tabular-nums">{folder.count}</span>
        </button>
        <div className="opacity-0 group-focus-within/folder:opacity-100 group-hover/folder:opacity-100 max-md:opacity-100">
          <Menu
            label={`${t.moreActions}: ${folder.name}`}
            face={<Ellipsis size={15} />}
            className="!h-7 !min-w-7 !px-0"
          >
            <MenuItem onSelect={() => setDoing("rename")}>
              <Pencil size={14} aria-hidden="true" /> {t.rename}
            </MenuItem>
            <MenuItem onSelect={() => setDoing("remove")}>
              <FolderX size={14} aria-hidden="true" /> {t.removeFolder}
            </MenuItem>
          </Menu>
        </div>
      </div>
      {isOpen ? <ul className="ml-3 border-l border-line pl-1">{children}</ul> : null}
      {doing === "rename" ? (
        <RenameFolder name={folder.name} onClose={done} onRename={(name) => store.changeFolder(folder.name, name)} />
      ) : null}
      {doing === "remove" ? (
        <Confirm
          title={t.removeFolderQuestion(folder.name)}
          action={t.removeFolder}
          onConfirm={() => store.changeFolder(folder.name, null)}
          onClose={done}
        >
          {t.removeFolderHint}
        </Confirm>
      ) : null}
    </li>
  );
}

interface RenameFolderProps {
  name: string;
  onRename: (name: string) => Promise<void>;
  onClose: () => void;
}

function RenameFolder({ name, onRename, onClose }: RenameFolderProps) {
  const t = useText();
  const [wanted, setWanted] = useState(name);
  const save = () => {
    onClose();
    void onRename(wanted.trim());
  };
  return (
    <Dialog title={t.renameFolder} onClose={onClose}>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted.trim() !== "") save();
        }}
      >
        <div className="flex-1">
          <TextField name={t.folderName} value={wanted} onChange={setWanted} />
        </div>
        <Button look="primary" type="submit" disabled={wanted.trim() === ""}>
          {t.save}
        </Button>
      </form>
    </Dialog>
  );
}
