import { Paperclip, X } from "lucide-react";
import type { FilePart } from "@/features/chat/attachments";
import { useText } from "@/text/text";

/** The files to be sent with the message. */
export function FileChips({ files, onRemove }: { files: readonly FilePart[]; onRemove: (index: number) => void }) {
  const t = useText();
  if (files.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 px-3 pt-3">
      {files.map((file, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be attached twice
          key={index}
          className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1 pr-1 pl-2 text-[13px]"
        >
          {file.mediaType.startsWith("image/") ? (
            <img src={file.url} alt="" className="size-6 rounded object-cover" />
          ) : (
            <Paperclip size={13} className="text-faint" aria-hidden="true" />
          )}
          <span className="max-w-44 truncate">{file.filename}</span>
          <button
            type="button"
            aria-label={t.removeFile(file.filename ?? "")}
            onClick={() => onRemove(index)}
            className="rounded p-1 text-faint hover:bg-raised hover:text-ink"
          >
            <X size={13} aria-hidden="true" />
          </button>
        </li>
      ))}
    </ul>
  );
}
