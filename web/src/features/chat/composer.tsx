import { lazy, Suspense, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { LARGEST_FILE, LARGEST_MESSAGE, MOST_FILES } from "@/features/chat/attachments";
import type { Suggestion } from "@/features/chat/completion";
import { ComposerField } from "@/features/chat/composer-field";
import { type ComposerNotice, ComposerStore } from "@/features/chat/composer-store";
import { ComposerTools } from "@/features/chat/composer-tools";
import type { Drafts } from "@/features/chat/drafts";
import { hasOptions } from "@/features/chat/option-fields";
import type { PromptStore } from "@/features/chat/prompt-store";
import { SendButtons } from "@/features/chat/send-buttons";
import type { Outgoing } from "@/features/chat/session-info";
import { useIncomingFiles } from "@/features/chat/use-incoming-files";
import type { MessageMode } from "@/protocol/inbox";
import type { PromptInfo } from "@/protocol/prompt";
import type { ChatOptions, ChoiceChange } from "@/protocol/session";
import { errorText } from "@/text/errors";
import { formatSize } from "@/text/format";
import { type Text, useText } from "@/text/text";
import { useStore } from "@/ui/store";

const FileChips = lazy(() => import("@/features/chat/file-chips"));
const PromptDialog = lazy(() => import("@/features/chat/prompt-dialog"));
const OptionsDialog = lazy(() => import("@/features/chat/options-dialog"));

export interface ComposerHandle {
  focus(): void;
  fill(text: string): void;
}

interface ComposerProps {
  drafts: Drafts;
  /** The chat whose draft is written. */
  draftKey: string;
  /** Whether an answer is in progress; what is sent then goes into it, or is answered after it. */
  isBusy: boolean;
  /** Rejects if the message could not be sent: its text then returns to the field. */
  onSend: (message: Outgoing, mode: MessageMode) => Promise<void>;
  onStop: () => void;
  onEditLast: () => void;
  /** The agents and skills that can be named. */
  suggestions: readonly Suggestion[];
  library: PromptStore;
  /** The options of this chat; null if they cannot be changed. */
  options: ChatOptions | null;
  onOptions: (change: ChoiceChange) => Promise<void>;
  /** Shown to the left of the send button, and what they show in a few words. */
  tools?: React.ReactNode;
  summary: string;
  handle?: React.Ref<ComposerHandle>;
}

export function Composer(props: ComposerProps) {
  const { drafts, draftKey, isBusy, onSend, onStop, onEditLast, suggestions, library, handle } = props;
  const t = useText();
  const [store] = useState(() => new ComposerStore(drafts, draftKey));
  const { files, notice } = useStore(store);
  const { prompts } = useStore(library);
  const [asked, setAsked] = useState<{ prompt: PromptInfo; caret: number } | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const isDragging = useIncomingFiles(
    useCallback(
      (list) => {
        field.current?.focus();
        void store.attach(list);
      },
      [store],
    ),
  );
  useDraft(store, draftKey);
  useImperativeHandle(handle, () => ({
    focus: () => field.current?.focus(),
    fill: (value) => {
      store.setText(value);
      field.current?.focus();
    },
  }));
  const canChoose = props.options !== null;
  const all = useMemo(
    () => [...suggestions, ...prompts.map(suggest), ...commands(t, canChoose)],
    [suggestions, prompts, t, canChoose],
  );

  const send = (mode: MessageMode) => {
    if (!store.canSend) return;
    const message = store.take();
    onSend(message, mode).catch((error: unknown) => store.giveBack(message, error));
    // The button or menu that was used disappears with the text.
    if (isBusy) field.current?.focus();
  };
  const insert = (text: string, at: number) => {
    const { text: present } = store.read();
    store.setText(present.slice(0, at) + text + present.slice(at));
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(at + text.length, at + text.length);
    });
  };
  const take = (suggestion: Suggestion, caret: number) => {
    if (suggestion.kind === "command") return suggestion.name === "options" ? setChoosing(true) : chooseFiles();
    const prompt = prompts.find(({ name }) => name === suggestion.name);
    if (prompt === undefined) return;
    if (prompt.variables.length > 0) return setAsked({ prompt, caret });
    library.render(prompt.name, {}).then(
      (text) => insert(text, caret),
      (error: unknown) => store.fail(error),
    );
  };
  const chooseFiles = () => field.current?.form?.querySelector<HTMLInputElement>("input[type=file]")?.click();
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send("steer");
        }}
        className="relative rounded-2xl border border-line bg-surface shadow-float transition-colors focus-within:border-line-strong"
      >
        {files.length === 0 ? null : (
          <Suspense>
            <FileChips files={files} onRemove={(id) => store.remove(id)} />
          </Suspense>
        )}
        {notice ? (
          <p role="alert" className="px-4 pt-2 text-[13px] text-danger">
            {noticeText(notice, t)}
          </p>
        ) : null}
        <ComposerField
          store={store}
          field={field}
          placeholder={isBusy ? t.steerPlaceholder : t.messagePlaceholder}
          suggestions={all}
          onChosen={take}
          onSlash={() => void library.refresh()}
          onSend={(isQueued) => send(isQueued ? "queue" : "steer")}
          onEditLast={onEditLast}
        />
        <ComposerTools
          onFiles={(list) => void store.attach(list)}
          pickers={props.tools}
          summary={props.summary}
          hasOptions={props.options === null ? null : hasOptions(props.options)}
          onOptions={() => setChoosing(true)}
        >
          <SendButtons isBusy={isBusy} canSend={store.canSend} onSend={send} onStop={onStop} />
        </ComposerTools>
      </form>
      {isDragging ? (
        <p className="pointer-events-none fixed inset-3 z-40 flex items-center justify-center rounded-2xl border-2 border-dashed border-accent bg-accent-soft/90 text-[15px] text-accent">
          {t.dropFiles}
        </p>
      ) : null}
      <Suspense>
        {asked === null ? null : (
          <PromptDialog
            prompt={asked.prompt}
            onClose={() => setAsked(null)}
            onInsert={async (values) => {
              const text = await library.render(asked.prompt.name, values);
              setAsked(null);
              insert(text, asked.caret);
            }}
          />
        )}
        {isChoosing && props.options !== null ? (
          <OptionsDialog options={props.options} onSave={props.onOptions} onClose={() => setChoosing(false)} />
        ) : null}
      </Suspense>
    </>
  );
}

/** Stores the draft when the page is left, and follows what other tabs do with it. */
function useDraft(store: ComposerStore, key: string): void {
  useEffect(() => store.moveTo(key), [store, key]);
  useEffect(() => {
    const leave = new AbortController();
    const { signal } = leave;
    addEventListener("storage", (event) => store.follow(event.key), { signal });
    addEventListener("pagehide", store.flush, { signal });
    addEventListener("blur", store.flush, { signal });
    return () => leave.abort();
  }, [store]);
}

function suggest({ name, title, description }: PromptInfo): Suggestion {
  return { kind: "prompt", name, title, description };
}

function commands(t: Text, withOptions: boolean): Suggestion[] {
  const attach: Suggestion = { kind: "command", name: "attach", title: t.attach, description: "" };
  const options: Suggestion = { kind: "command", name: "options", title: t.chatOptions, description: "" };
  return withOptions ? [attach, options] : [attach];
}

/** Why a file was not attached, or a message not sent, in words. */
export function noticeText(notice: ComposerNotice, t: Text): string {
  switch (notice.kind) {
    case "too-large":
      return t.fileTooLarge(notice.name, formatSize(LARGEST_FILE));
    case "together-too-large":
      return t.filesTooLarge(notice.name, formatSize(LARGEST_MESSAGE));
    case "too-many":
      return t.tooManyFiles(MOST_FILES);
    case "unsupported":
      return t.fileUnsupported(notice.name);
    case "unreadable":
      return t.fileUnreadable(notice.name);
    case "failed":
      return errorText(notice.error, t);
  }
}
