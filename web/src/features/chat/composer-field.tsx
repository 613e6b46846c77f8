import { type KeyboardEvent, lazy, Suspense, useEffect, useLayoutEffect, useRef, useState } from "react";
import {
  type Completion,
  complete,
  LIST_ID,
  optionId,
  type Suggestion,
  slashAt,
  wordFor,
} from "@/features/chat/completion";
import type { ComposerStore } from "@/features/chat/composer-store";
import { useCompletion } from "@/features/chat/use-completion";
import { useText } from "@/text/text";
import { useStore } from "@/ui/store";

const CompletionList = lazy(() => import("@/features/chat/completion-list"));

interface ComposerFieldProps {
  store: ComposerStore;
  field: React.RefObject<HTMLTextAreaElement | null>;
  placeholder: string;
  suggestions: readonly Suggestion[];
  /** A prompt or a command was chosen; its word is gone, and `caret` is where it was. */
  onChosen: (suggestion: Suggestion, caret: number) => void;
  /** The user may be about to choose a prompt. */
  onSlash: () => void;
  onSend: (isQueued: boolean) => void;
  onEditLast: () => void;
}

/** The text of the message, with a list of suggestions above it. */
export function ComposerField(props: ComposerFieldProps) {
  const { store, field, placeholder, suggestions, onChosen, onSlash, onSend, onEditLast } = props;
  const t = useText();
  const { text } = useStore(store);
  const [caret, setCaret] = useState(0);
  useGrowingHeight(field, text || placeholder);
  const wanted = useRef<number | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caret is placed as soon as the text has changed
  useLayoutEffect(() => {
    if (wanted.current !== null) field.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = null;
  }, [text]);
  const slash = slashAt(text, caret);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each slash
  useEffect(() => {
    if (slash !== null) onSlash();
  }, [slash]);

  const choose = (suggestion: Suggestion, { start, end, matches }: Completion) => {
    const done = complete(text, { start, end, matches }, wordFor(suggestion));
    wanted.current = done.caret;
    store.setText(done.text);
    setCaret(done.caret);
    if (suggestion.kind === "prompt" || suggestion.kind === "command") onChosen(suggestion, done.caret);
  };
  const list = useCompletion(text, caret, suggestions, choose);
  const { completion } = list;
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // While an input method is composing, it handles the keys; Safari ends the composition before its Enter.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (list.onKey(event)) return;
    if (event.key === "ArrowUp" && text === "" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      onEditLast();
    }
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    onSend(event.altKey);
  };
  return (
    <>
      {completion === null ? null : (
        <Suspense>
          <CompletionList
            matches={completion.matches}
            choice={list.choice}
            onChoose={(suggestion) => choose(suggestion, completion)}
          />
        </Suspense>
      )}
      <p role="status" className="sr-only">
        {completion === null ? "" : t.suggestionsFound(completion.matches.length)}
      </p>
      <label className="block">
        <span className="sr-only">{t.message}</span>
        <textarea
          ref={field}
          data-rest
          // biome-ignore lint/a11y/noAutofocus: the page is for typing; not on phones, where the keyboard would open
          autoFocus={matchMedia("(pointer: fine)").matches}
          rows={1}
          value={text}
          placeholder={placeholder}
          aria-autocomplete="list"
          aria-controls={completion === null ? undefined : LIST_ID}
          aria-activedescendant={completion === null ? undefined : optionId(list.choice)}
          onChange={(event) => {
            const { value, selectionStart } = event.target;
            store.setText(value);
            setCaret(selectionStart);
            list.onTyped();
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKey}
          className="block max-h-56 w-full resize-none bg-transparent px-4 pt-3.5 pb-1 leading-6 placeholder:text-faint"
        />
      </label>
    </>
  );
}

function useGrowingHeight(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text, or the placeholder
  useLayoutEffect(() => {
    if (field.current === null) return;
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [field, text]);
}
