import { Download, FileText, FolderInput, Pencil, Pin, PinOff, Share2, Trash2 } from "lucide-react";
import type { SessionSummary } from "@/protocol/session";
import { useText } from "@/text/text";
import { MenuItem } from "@/ui/menu";

interface SessionMenuProps {
  session: SessionSummary;
  onRename: () => void;
  onPin: () => void;
  onMove: () => void;
  onShare: () => void;
  onRemove: () => void;
  exportAddress: (format: "json" | "markdown") => string;
}

/** What can be done with a chat. */
export function SessionMenu({ session, exportAddress, ...on }: SessionMenuProps) {
  const t = useText();
  return (
    <>
      <MenuItem onSelect={on.onRename}>
        <Pencil size={14} aria-hidden="true" /> {t.rename}
      </MenuItem>
      <MenuItem onSelect={on.onPin}>
        {session.isPinned ? <PinOff size={14} aria-hidden="true" /> : <Pin size={14} aria-hidden="true" />}
        {session.isPinned ? t.unpin : t.pin}
      </MenuItem>
      <MenuItem onSelect={on.onMove}>
        <FolderInput size={14} aria-hidden="true" /> {t.moveToFolder}
      </MenuItem>
      <MenuItem onSelect={on.onShare}>
        <Share2 size={14} aria-hidden="true" /> {t.share}
      </MenuItem>
      <MenuItem onSelect={() => download(exportAddress("markdown"))}>
        <FileText size={14} aria-hidden="true" /> {t.exportMarkdown}
      </MenuItem>
      <MenuItem onSelect={() => download(exportAddress("json"))}>
        <Download size={14} aria-hidden="true" /> {t.exportJson}
      </MenuItem>
      <MenuItem isDanger onSelect={on.onRemove}>
        <Trash2 size={14} aria-hidden="true" /> {t.remove}
      </MenuItem>
    </>
  );
}

function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}
