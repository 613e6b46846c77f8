/** Files that are dropped or pasted anywhere on the page. */

import { useEffect, useState } from "react";
import { pastedFiles } from "@/features/chat/attachments";

/** Calls `onFiles` with what is dropped or pasted; returns whether files are being dragged over the page. */
export function useIncomingFiles(onFiles: (files: File[]) => void): boolean {
  const [isDragging, setDragging] = useState(false);
  useEffect(() => {
    const leave = new AbortController();
    const { signal } = leave;
    const onDrag = (event: DragEvent) => {
      if (hasFiles(event)) setDragging(!isBehindDialog());
    };
    const onLeave = (event: DragEvent) => {
      // The pointer has left the window, and not only one element for another.
      if (event.relatedTarget === null) setDragging(false);
    };
    const onDrop = (event: DragEvent) => {
      setDragging(false);
      if (hasFiles(event) && !isBehindDialog()) onFiles([...(event.dataTransfer?.files ?? [])]);
    };
    const onPaste = (event: ClipboardEvent) => {
      const files = event.clipboardData === null || isBehindDialog() ? [] : pastedFiles(event.clipboardData);
      if (files.length === 0) return;
      event.preventDefault();
      onFiles(files);
    };
    addEventListener("dragover", onDrag, { signal });
    addEventListener("dragleave", onLeave, { signal });
    addEventListener("drop", onDrop, { signal });
    addEventListener("paste", onPaste, { signal });
    return () => leave.abort();
  }, [onFiles]);
  return isDragging;
}

/** Whether the composer is out of reach. */
function isBehindDialog(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

/** A file that is dropped where nothing takes it must not replace the page. */
export function guardPage(): void {
  for (const name of ["dragover", "drop"] as const) {
    addEventListener(name, (event) => {
      if (!hasFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      if (event.dataTransfer !== null && isBehindDialog()) event.dataTransfer.dropEffect = "none";
    });
  }
}
