import { Download, FileText, Paperclip } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { type FilePart as Part, sizeOf } from "@/features/chat/attachments";
import { formatSize } from "@/text/format";
import { useText } from "@/text/text";

const Lightbox = lazy(() => import("@/ui/lightbox"));

/** The files of a message: pictures that open above the page, and others to open or download. */
export default function SentFiles({ parts }: { parts: readonly Part[] }) {
  const [shown, setShown] = useState<number | null>(null);
  const pictures = parts.filter(isPicture);
  const others = parts.filter((part) => !isPicture(part));
  return (
    <>
      {pictures.length === 0 ? null : (
        <div className="flex max-w-full flex-wrap gap-2">
          {pictures.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a sent message does not change
            <PictureButton key={index} part={part} isAlone={pictures.length === 1} onOpen={() => setShown(index)} />
          ))}
        </div>
      )}
      {others.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sent message does not change
        <FileChip key={index} part={part} />
      ))}
      {shown === null ? null : (
        <Suspense>
          <Lightbox
            pictures={pictures.map((part) => ({ url: part.url, name: nameOf(part) }))}
            first={shown}
            onClose={() => setShown(null)}
          />
        </Suspense>
      )}
    </>
  );
}

function PictureButton({ part, isAlone, onOpen }: { part: Part; isAlone: boolean; onOpen: () => void }) {
  const t = useText();
  const size = isAlone ? "max-h-72 max-w-full" : "size-32 object-cover";
  return (
    <button
      type="button"
      title={t.openFile(nameOf(part))}
      onClick={onOpen}
      className="cursor-zoom-in overflow-hidden rounded-xl border border-line transition-colors hover:border-line-strong"
    >
      <img src={part.url} alt={nameOf(part)} className={size} />
    </button>
  );
}

function FileChip({ part }: { part: Part }) {
  const t = useText();
  const name = nameOf(part);
  const opened = openedType(part.mediaType);
  const size = sizeOf(part);
  const Sign = opened === null ? Paperclip : FileText;
  const face = (
    <>
      <Sign size={14} className="shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-0 truncate">{name}</span>
      {size > 0 ? <span className="shrink-0 text-faint">{formatSize(size)}</span> : null}
    </>
  );
  const look = "flex min-w-0 items-center gap-2 rounded-xl py-2 pl-3";
  return (
    <div className="flex max-w-full items-center rounded-xl border border-line bg-surface text-[13px]">
      {opened !== null && part.url.startsWith("data:") ? (
        <button
          type="button"
          title={t.openFile(name)}
          onClick={() => open(part.url, opened)}
          className={`${look} pr-1 hover:text-accent`}
        >
          {face}
        </button>
      ) : (
        <span className={`${look} pr-1`}>{face}</span>
      )}
      {isOwn(part) ? (
        <a
          href={part.url}
          download={name}
          aria-label={t.downloadFile(name)}
          title={t.downloadFile(name)}
          className="m-1 rounded-lg p-1.5 text-faint hover:bg-raised hover:text-ink"
        >
          <Download size={14} aria-hidden="true" />
        </a>
      ) : (
        <span className="w-2" />
      )}
    </div>
  );
}

function nameOf(part: Part): string {
  return part.filename ?? part.mediaType;
}

function isOwn(part: Part): boolean {
  return part.url.startsWith("data:") || part.url.startsWith("/");
}

function isPicture(part: Part): boolean {
  return part.mediaType.startsWith("image") && (part.url.startsWith("data:image/") || part.url.startsWith("/"));
}

/** As what a file is opened in a tab of its own; null if it can only be downloaded. Never as a page with script. */
function openedType(mediaType: string): string | null {
  if (mediaType === "application/pdf") return mediaType;
  const isText = mediaType.startsWith("text/") || /^application\/([\w.-]+\+)?(json|xml|yaml)$/.test(mediaType);
  return isText ? "text/plain;charset=utf-8" : null;
}

/** Opens the content of a data URL, which browsers do not open themselves. */
function open(url: string, type: string): void {
  const bytes = Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  window.open(address, "_blank");
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
