import { Bot, Command, GraduationCap, ScrollText } from "lucide-react";
import { useEffect, useRef } from "react";
import { LIST_ID, optionId, type Suggestion, type SuggestionKind } from "@/features/chat/completion";
import { useText } from "@/text/text";

const SIGNS = { agent: Bot, prompt: ScrollText, skill: GraduationCap, command: Command };

interface CompletionListProps {
  matches: readonly Suggestion[];
  choice: number;
  onChoose: (suggestion: Suggestion) => void;
}

/** What matches the word that is being typed, by kind; the field keeps the focus. */
export default function CompletionList({ matches, choice, onChoose }: CompletionListProps) {
  const t = useText();
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen option must be in sight
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [choice, matches]);
  return (
    <div className="absolute inset-x-0 bottom-full z-20 mb-2 animate-rise overflow-hidden rounded-xl border border-line bg-surface shadow-float">
      <div
        ref={list}
        id={LIST_ID}
        role="listbox"
        aria-label={t.completions}
        className="max-h-[min(20rem,40dvh)] overflow-y-auto p-1"
      >
        {kindsOf(matches).map((kind) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
          <div key={kind} role="group" aria-labelledby={`${LIST_ID}-${kind}`}>
            <p id={`${LIST_ID}-${kind}`} role="presentation" className="px-3 pt-2 pb-1 text-[12px] text-faint">
              {t.suggestionKinds[kind]}
            </p>
            {matches.map((suggestion, index) =>
              suggestion.kind === kind ? (
                <Option
                  key={suggestion.name}
                  suggestion={suggestion}
                  index={index}
                  isChosen={index === choice}
                  onChoose={onChoose}
                />
              ) : null,
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

interface OptionProps {
  suggestion: Suggestion;
  index: number;
  isChosen: boolean;
  onChoose: (suggestion: Suggestion) => void;
}

function Option({ suggestion, index, isChosen, onChoose }: OptionProps) {
  const Sign = SIGNS[suggestion.kind];
  return (
    <div
      id={optionId(index)}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      // A click must not take the focus from the field.
      onPointerDown={(event) => {
        event.preventDefault();
        onChoose(suggestion);
      }}
      className="flex cursor-pointer items-center gap-2.5 rounded-lg px-3 py-1.5 text-[13px] hover:bg-raised aria-selected:bg-raised"
    >
      <Sign size={15} className="shrink-0 text-faint" aria-hidden="true" />
      <span className="max-w-[60%] shrink-0 truncate">{suggestion.title}</span>
      <span className="min-w-0 flex-1 truncate text-faint">{suggestion.description}</span>
    </div>
  );
}

function kindsOf(matches: readonly Suggestion[]): SuggestionKind[] {
  return [...new Set(matches.map(({ kind }) => kind))];
}
