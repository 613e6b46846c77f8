import type { Suggestion } from "@/features/chat/completion";
import { useText } from "@/text/text";

interface CompletionListProps {
  matches: readonly Suggestion[];
  choice: number;
  onChoose: (name: string) => void;
}

/** The skills that match what is typed; the field keeps the focus. */
export function CompletionList({ matches, choice, onChoose }: CompletionListProps) {
  const t = useText();
  return (
    <div
      id="skill-completion"
      role="listbox"
      aria-label={t.skills}
      className="absolute inset-x-0 bottom-full z-20 mb-2 animate-rise rounded-xl border border-line bg-surface p-1 shadow-float"
    >
      {matches.map((skill, index) => (
        <div
          key={skill.name}
          role="option"
          tabIndex={-1}
          aria-selected={index === choice}
          // A click must not take the focus from the field.
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(skill.name);
          }}
          className="flex cursor-pointer items-baseline gap-3 rounded-lg px-3 py-1.5 text-[13px] hover:bg-raised aria-selected:bg-raised"
        >
          <span className="shrink-0 font-mono">/skill/{skill.name}</span>
          <span className="min-w-0 truncate text-faint">{skill.description}</span>
        </div>
      ))}
    </div>
  );
}
