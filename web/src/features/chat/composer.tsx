import { ArrowUp, Square } from "lucide-react";
import { type ReactNode, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { useText } from "@/text/text";

export interface ComposerHandle {
  focus(): void;
  fill(text: string): void;
}

interface ComposerProps {
  isBusy: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
  /** What stands at the left of the send button. */
  tools?: ReactNode;
  handle?: React.Ref<ComposerHandle>;
}

export function Composer({ isBusy, onSend, onStop, tools, handle }: ComposerProps) {
  const t = useText();
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useGrowingHeight(field, text);
  useImperativeHandle(handle, () => ({
    focus: () => field.current?.focus(),
    fill: (value) => {
      setText(value);
      field.current?.focus();
    },
  }));

  const canSend = text.trim() !== "" && !isBusy;
  const send = () => {
    if (!canSend) return;
    onSend(text.trim());
    setText("");
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      className="rounded-2xl border border-line bg-surface shadow-float transition-colors focus-within:border-line-strong"
    >
      <label className="block">
        <span className="sr-only">{t.message}</span>
        <textarea
          ref={field}
          // biome-ignore lint/a11y/noAutofocus: the page is there to type into; a phone would open its keyboard, so not there
          autoFocus={matchMedia("(pointer: fine)").matches}
          rows={1}
          value={text}
          placeholder={t.messagePlaceholder}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            // While an input method composes, Enter belongs to it.
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            send();
          }}
          className="block max-h-56 w-full resize-none bg-transparent px-4 pt-3.5 pb-1 leading-6 placeholder:text-faint"
        />
      </label>
      <div className="flex items-center gap-1 p-2 pt-1">
        <div className="flex min-w-0 flex-1 items-center gap-1">{tools}</div>
        {isBusy ? (
          <RoundButton label={t.stop} onClick={onStop}>
            <Square size={12} fill="currentColor" aria-hidden="true" />
          </RoundButton>
        ) : (
          <RoundButton label={t.send} isDisabled={!canSend} type="submit">
            <ArrowUp size={17} strokeWidth={2.25} aria-hidden="true" />
          </RoundButton>
        )}
      </div>
    </form>
  );
}

interface RoundButtonProps {
  label: string;
  type?: "button" | "submit";
  isDisabled?: boolean;
  onClick?: () => void;
  children: ReactNode;
}

function RoundButton({ label, type = "button", isDisabled = false, onClick, children }: RoundButtonProps) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      disabled={isDisabled}
      onClick={onClick}
      className="flex size-8 shrink-0 items-center justify-center rounded-full bg-accent text-accent-ink transition hover:opacity-90 disabled:bg-raised disabled:text-faint disabled:opacity-100"
    >
      {children}
    </button>
  );
}

function useGrowingHeight(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    if (field.current === null) return;
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [field, text]);
}
