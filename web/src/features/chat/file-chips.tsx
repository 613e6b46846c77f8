import { FileText, X } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { FileItem } from "@/features/chat/composer-store";
import { formatSize } from "@/text/format";
import { useText } from "@/text/text";
import { Spinner } from "@/ui/spinner";

const Lightbox = lazy(() => import("@/ui/lightbox"));

interface FileChipsProps {
  files: readonly FileItem[];
  onRemove: (id: number) => void;
}

/** The files to be sent with the message, pictures as thumbnails. */
export default function FileChips({ files, onRemove }: FileChipsProps) {
  const t = useText();
  const [shown, setShown] = useState<number | null>(null);
  const pictures = files.filter(isPicture);
  return (
    <>
      <ul aria-label={t.attachedFiles} className="flex max-h-44 flex-wrap gap-2 overflow-y-auto px-3 pt-3">
        {files.map((file) => (
          <li key={file.id} className="relative max-w-full">
            {isPicture(file) ? (
              <button
                type="button"
                title={t.openFile(file.name)}
                onClick={() => setShown(pictures.indexOf(file))}
                className="block size-14 cursor-zoom-in overflow-hidden rounded-xl border border-line"
              >
                <img src={file.part?.url} alt={file.name} className="size-full object-cover" />
              </button>
            ) : (
              <Chip file={file} />
            )}
            <button
              type="button"
              aria-label={t.removeFile(file.name)}
              title={t.removeFile(file.name)}
              onClick={() => onRemove(file.id)}
              className={`absolute rounded-full p-1 text-soft hover:text-ink ${isPicture(file) ? "top-1 right-1 bg-surface/90 shadow-float" : "top-1/2 right-2 -translate-y-1/2 hover:bg-raised"}`}
            >
              <X size={13} aria-hidden="true" />
            </button>
          </li>
        ))}
      </ul>
      {shown === null ? null : (
        <Suspense>
          <Lightbox
            pictures={pictures.map((file) => ({ url: file.part?.url ?? "", name: file.name }))}
            first={shown}
            onClose={() => setShown(null)}
          />
        </Suspense>
      )}
    </>
  );
}

function Chip({ file }: { file: FileItem }) {
  const t = useText();
  const isReading = file.part === null;
  return (
    <div className="flex h-14 max-w-64 items-center gap-2.5 rounded-xl border border-line bg-sunken pr-9 pl-3 text-[13px]">
      {isReading ? <Spinner /> : <FileText size={16} className="shrink-0 text-faint" aria-hidden="true" />}
      <div className="min-w-0">
        <p className="truncate leading-5">{file.name}</p>
        {isReading ? (
          <progress
            aria-label={t.readingFile(file.name)}
            value={file.progress}
            className="block h-1 w-24 overflow-hidden rounded-full accent-accent"
          />
        ) : (
          <p className="text-[12px] leading-4 text-faint">{formatSize(file.size)}</p>
        )}
      </div>
    </div>
  );
}

function isPicture(file: FileItem): boolean {
  return file.part?.mediaType.startsWith("image/") ?? false;
}
