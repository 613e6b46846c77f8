import { useState } from "react";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";

interface EditFieldProps {
  text: string;
  onCancel: () => void;
  onSend: (text: string) => void;
}

/** A message being edited; the old one stays as another version. */
export function EditField({ text, onCancel, onSend }: EditFieldProps) {
  const t = useText();
  const [draft, setDraft] = useState(text);
  const canSend = draft.trim() !== "";
  return (
    <div className="rounded-2xl border border-line bg-surface p-3 focus-within:border-line-strong">
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the field replaces the message that was just acted on
        autoFocus
        aria-label={t.edit}
        value={draft}
        rows={Math.min(12, draft.split("\n").length + 1)}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          if (canSend) onSend(draft.trim());
        }}
        className="w-full resize-none bg-transparent px-1"
      />
      <div className="flex justify-end gap-2">
        <Button look="plain" onClick={onCancel}>
          {t.cancel}
        </Button>
        <Button look="primary" disabled={!canSend} onClick={() => onSend(draft.trim())}>
          {t.saveAndSend}
        </Button>
      </div>
    </div>
  );
}
