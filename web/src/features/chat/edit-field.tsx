import { Paperclip } from "lucide-react";
import { useRef, useState } from "react";
import { pastedFiles } from "@/features/chat/attachments";
import { noticeText } from "@/features/chat/composer";
import { ComposerStore } from "@/features/chat/composer-store";
import { unkeptDrafts } from "@/features/chat/drafts";
import FileChips from "@/features/chat/file-chips";
import type { Outgoing } from "@/features/chat/session-info";
import { useText } from "@/text/text";
import { Button, IconButton } from "@/ui/button";
import { useStore } from "@/ui/store";

interface EditFieldProps {
  message: Outgoing;
  onCancel: () => void;
  onSend: (message: Outgoing) => void;
}

/** A message being edited, with its files; the old one stays as another version. */
export function EditField({ message, onCancel, onSend }: EditFieldProps) {
  const t = useText();
  const [store] = useState(() => newStore(message));
  const { text, files, notice } = useStore(store);
  const picker = useRef<HTMLInputElement>(null);
  const send = () => {
    if (store.canSend) onSend(store.take());
  };
  return (
    <div className="rounded-2xl border border-line bg-surface focus-within:border-line-strong">
      <FileChips files={files} onRemove={(id) => store.remove(id)} />
      {notice === null ? null : (
        <p role="alert" className="px-4 pt-2 text-[13px] text-danger">
          {noticeText(notice, t)}
        </p>
      )}
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the field replaces the message that was just acted on
        autoFocus
        aria-label={t.edit}
        value={text}
        rows={Math.min(12, text.split("\n").length + 1)}
        onChange={(event) => store.setText(event.target.value)}
        onPaste={(event) => {
          const pasted = pastedFiles(event.clipboardData);
          if (pasted.length === 0) return;
          event.preventDefault();
          event.stopPropagation();
          void store.attach(pasted);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
        className="block w-full resize-none bg-transparent px-4 pt-3"
      />
      <div className="flex items-center gap-2 p-2">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void store.attach(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        <IconButton label={t.attach} onClick={() => picker.current?.click()}>
          <Paperclip size={16} />
        </IconButton>
        <span className="flex-1" />
        <Button look="plain" onClick={onCancel}>
          {t.cancel}
        </Button>
        <Button look="primary" disabled={!store.canSend} onClick={send}>
          {t.send}
        </Button>
      </div>
    </div>
  );
}

function newStore(message: Outgoing): ComposerStore {
  const store = new ComposerStore(unkeptDrafts(), "");
  store.fill(message);
  return store;
}
