import { Paperclip } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { type FilePart, LARGEST_FILE, readFiles } from "@/features/chat/attachments";
import { complete, completionAt, type Suggestion } from "@/features/chat/completion";
import { CompletionList } from "@/features/chat/completion-list";
import { FileChips } from "@/features/chat/file-chips";
import { SendButtons } from "@/features/chat/send-buttons";
import type { Outgoing } from "@/features/chat/session-info";
import type { MessageMode } from "@/protocol/inbox";
import { formatSize } from "@/text/format";
import { useText } from "@/text/text";
import { OfflineError } from "@/transport/http";
import { IconButton } from "@/ui/button";

export interface ComposerHandle {
  focus(): void;
  fill(text: string): void;
}

interface ComposerProps {
  /** Whether an answer is in progress; what is sent then goes into it, or is answered after it. */
  isBusy: boolean;
  /** Rejects if the message could not be sent: its text then returns to the field. */
  onSend: (message: Outgoing, mode: MessageMode) => Promise<void>;
  onStop: () => void;
  /** What may follow `/skill/`. */
  skills?: readonly Suggestion[];
  /** Shown to the left of the send button. */
  tools?: ReactNode;
  handle?: React.Ref<ComposerHandle>;
}

const NO_SKILLS: readonly Suggestion[] = [];

export function Composer({ isBusy, onSend, onStop, skills = NO_SKILLS, tools, handle }: ComposerProps) {
  const t = useText();
  const [text, setText] = useState("");
  const [caret, setCaret] = useState(0);
  const [choice, setChoice] = useState(0);
  const [files, setFiles] = useState<FilePart[]>([]);
  const [isDropping, setDropping] = useState(false);
  const [notice, setNotice] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useGrowingHeight(field, text);
  useImperativeHandle(handle, () => ({
    focus: () => field.current?.focus(),
    fill: (value) => {
      setText(value);
      field.current?.focus();
    },
  }));

  const completion = skills.length > 0 ? completionAt(text, caret, skills) : null;
  const canSend = text.trim() !== "" || files.length > 0;
  const send = (mode: MessageMode) => {
    if (!canSend) return;
    const sent = { text: text.trim(), files };
    setText("");
    setFiles([]);
    setNotice(null);
    onSend(sent, mode).catch((error: unknown) => {
      setText((now) => (now === "" ? sent.text : `${sent.text}\n${now}`));
      setFiles((now) => [...sent.files, ...now]);
      setNotice(error instanceof OfflineError ? t.offline : error instanceof Error ? error.message : String(error));
    });
    // The button or menu that was used disappears with the text.
    if (isBusy) field.current?.focus();
  };
  const attach = async (list: Iterable<File>) => {
    const { parts, tooLarge } = await readFiles(list);
    setFiles((before) => [...before, ...parts]);
    setNotice(tooLarge[0] === undefined ? null : t.fileTooLarge(tooLarge[0], formatSize(LARGEST_FILE)));
  };
  const choose = (name: string) => {
    if (completion === null) return;
    const done = complete(text, completion, name);
    setText(done.text);
    setCaret(done.caret);
    requestAnimationFrame(() => field.current?.setSelectionRange(done.caret, done.caret));
  };
  const onKey = (event: KeyboardEvent) => {
    // While an input method is composing, it handles the keys.
    if (event.nativeEvent.isComposing) return;
    if (completion !== null && onCompletionKey(event, completion.matches, choice, setChoice, choose)) return;
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    send(event.altKey ? "queue" : "steer");
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send("steer");
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDropping(false);
        void attach(event.dataTransfer.files);
      }}
      className="relative rounded-2xl border border-line bg-surface shadow-float transition-colors focus-within:border-line-strong"
    >
      {isDropping ? (
        <p className="pointer-events-none absolute inset-0 z-10 flex items-center justify-center rounded-2xl border-2 border-dashed border-accent bg-accent-soft text-[13.5px] text-accent">
          {t.dropFiles}
        </p>
      ) : null}
      {completion === null ? null : <CompletionList matches={completion.matches} choice={choice} onChoose={choose} />}
      <FileChips files={files} onRemove={(index) => setFiles(files.filter((_, at) => at !== index))} />
      {notice ? (
        <p role="alert" className="px-4 pt-2 text-[13px] text-danger">
          {notice}
        </p>
      ) : null}
      <label className="block">
        <span className="sr-only">{t.message}</span>
        <textarea
          ref={field}
          // biome-ignore lint/a11y/noAutofocus: the page is for typing; not on phones, where the keyboard would open
          autoFocus={matchMedia("(pointer: fine)").matches}
          rows={1}
          value={text}
          placeholder={isBusy ? t.steerPlaceholder : t.messagePlaceholder}
          aria-autocomplete={skills.length > 0 ? "list" : "none"}
          aria-controls={completion === null ? undefined : "skill-completion"}
          onChange={(event) => {
            setText(event.target.value);
            setCaret(event.target.selectionStart);
            setChoice(0);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onPaste={(event) => void attach(event.clipboardData.files)}
          onKeyDown={onKey}
          className="block max-h-56 w-full resize-none bg-transparent px-4 pt-3.5 pb-1 leading-6 placeholder:text-faint"
        />
      </label>
      <div className="flex items-center gap-1 p-2 pt-1">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void attach(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        <IconButton label={t.attach} onClick={() => picker.current?.click()}>
          <Paperclip size={16} />
        </IconButton>
        <div className="flex min-w-0 flex-1 items-center gap-1">{tools}</div>
        <SendButtons isBusy={isBusy} canSend={canSend} onSend={send} onStop={onStop} />
      </div>
    </form>
  );
}

/** Handles the keys of the open list; returns true if one of them was pressed. */
function onCompletionKey(
  event: KeyboardEvent,
  matches: readonly Suggestion[],
  choice: number,
  setChoice: (choice: number) => void,
  choose: (name: string) => void,
): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) setChoice((choice + step + matches.length) % matches.length);
  else if (event.key === "Tab" || event.key === "Enter") choose(matches[choice]?.name ?? "");
  else return false;
  event.preventDefault();
  return true;
}

function useGrowingHeight(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    if (field.current === null) return;
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [field, text]);
}
