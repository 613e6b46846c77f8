import { ChevronLeft, ChevronRight, Download, X, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";

export interface Picture {
  url: string;
  name: string;
}

interface LightboxProps {
  pictures: readonly Picture[];
  /** The picture that is shown first. */
  first: number;
  onClose: () => void;
}

/** Pictures above the page: arrow keys turn, Enter and a click change the size, Escape closes. */
export default function Lightbox({ pictures, first, onClose }: LightboxProps) {
  const t = useText();
  const dialog = useRef<HTMLDialogElement>(null);
  const [index, setIndex] = useState(first);
  const [isFull, setFull] = useState(false);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const picture = pictures[index];
  if (picture === undefined) return null;
  const turn = (step: number) => {
    setFull(false);
    setIndex((index + step + pictures.length) % pictures.length);
  };
  const onKey = (event: React.KeyboardEvent) => {
    if (pictures.length < 2 || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
    event.preventDefault();
    turn(event.key === "ArrowLeft" ? -1 : 1);
  };
  return (
    <dialog
      ref={dialog}
      aria-label={picture.name}
      onClose={onClose}
      onKeyDown={onKey}
      className="m-0 h-dvh max-h-none w-screen max-w-none bg-page p-0 text-ink backdrop:bg-page"
    >
      <div className="flex h-full flex-col">
        <header className="flex h-14 shrink-0 items-center gap-1 pr-3 pl-5">
          <p className="min-w-0 flex-1 truncate text-[14px] font-medium text-soft">{picture.name}</p>
          {pictures.length > 1 ? (
            <>
              <p aria-live="polite" className="px-2 text-[13px] whitespace-nowrap text-faint">
                {t.pictureOf(index + 1, pictures.length)}
              </p>
              <IconButton label={t.previousPicture} onClick={() => turn(-1)}>
                <ChevronLeft size={18} />
              </IconButton>
              <IconButton label={t.nextPicture} onClick={() => turn(1)}>
                <ChevronRight size={18} />
              </IconButton>
            </>
          ) : null}
          <IconButton label={isFull ? t.zoomOut : t.zoomIn} aria-pressed={isFull} onClick={() => setFull(!isFull)}>
            {isFull ? <ZoomOut size={17} /> : <ZoomIn size={17} />}
          </IconButton>
          <a
            href={picture.url}
            download={picture.name}
            aria-label={t.download}
            title={t.download}
            className="inline-flex size-8 items-center justify-center rounded-lg text-soft hover:bg-raised hover:text-ink"
          >
            <Download size={17} aria-hidden="true" />
          </a>
          <IconButton label={t.close} onClick={onClose}>
            <X size={18} />
          </IconButton>
        </header>
        <button
          type="button"
          title={isFull ? t.zoomOut : t.zoomIn}
          onClick={() => setFull(!isFull)}
          className={`flex min-h-0 flex-1 overflow-auto p-4 pt-0 -outline-offset-2 ${isFull ? "cursor-zoom-out" : "cursor-zoom-in"}`}
        >
          <img
            src={picture.url}
            alt={picture.name}
            className={`m-auto rounded-lg ${isFull ? "max-w-none" : "max-h-full max-w-full object-contain"}`}
          />
        </button>
      </div>
    </dialog>
  );
}
