import { ArrowUpRight } from "lucide-react";
import { useEffect, useState } from "react";
import { type Text, useText } from "@/text/text";
import { listTools } from "@/transport/catalog";
import { Logo } from "@/ui/logo";

const SHOWN = 4;

/** An empty chat: a greeting, and examples of what the tools that are there can do. */
export function Greeting({ onPick }: { onPick: (text: string) => void }) {
  const t = useText();
  const tools = useToolNames();
  return (
    <div className="mx-auto flex w-full max-w-180 flex-col items-center px-4 pb-7 text-center">
      <Logo size={44} />
      <h2 className="mt-5 text-[26px] leading-tight font-semibold tracking-[-0.022em] text-balance">{t.greeting}</h2>
      <p className="mt-1.5 text-soft">{t.greetingHint}</p>
      <ul aria-label={t.examplesTitle} className="mt-7 grid w-full grid-cols-2 gap-2 max-sm:grid-cols-1">
        {chooseExamples(t.examples, tools).map(([title, question]) => (
          <li key={question}>
            <button
              type="button"
              onClick={() => onPick(question)}
              className="group flex h-full w-full items-start gap-3 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-left transition-colors hover:border-line-strong"
            >
              <span className="min-w-0 flex-1">
                <span className="block text-[13.5px] font-medium">{title}</span>
                <span className="block text-[13px] text-soft">{question}</span>
              </span>
              <ArrowUpRight size={15} className="mt-1 shrink-0 text-faint group-hover:text-accent" aria-hidden="true" />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The first examples whose tools are there, as title and question. */
export function chooseExamples(examples: Text["examples"], tools: ReadonlySet<string>): Array<[string, string]> {
  const usable = examples.filter(([tool]) => tool === "" || tools.has(tool));
  return usable.slice(0, SHOWN).map(([, title, question]) => [title, question]);
}

function useToolNames(): ReadonlySet<string> {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    listTools().then(
      ({ tools }) => setNames(new Set(tools.map((tool) => tool.name))),
      () => undefined,
    );
  }, []);
  return names;
}
