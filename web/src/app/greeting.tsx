import { useText } from "@/text/text";
import { Logo } from "@/ui/logo";

/** An empty chat: a greeting and a few suggestions. */
export function Greeting({ onPick }: { onPick: (text: string) => void }) {
  const t = useText();
  return (
    <div className="mx-auto flex w-full max-w-180 flex-col items-center px-4 pb-7 text-center">
      <Logo size={44} />
      <h2 className="mt-5 text-[26px] leading-tight font-semibold tracking-[-0.022em] text-balance">{t.greeting}</h2>
      <p className="mt-1.5 text-soft">{t.greetingHint}</p>
      <ul className="mt-6 flex flex-wrap justify-center gap-2">
        {t.suggestions.map((suggestion) => (
          <li key={suggestion}>
            <button
              type="button"
              onClick={() => onPick(suggestion)}
              className="rounded-full border border-line bg-surface px-3.5 py-1.5 text-[13.5px] text-soft transition-colors hover:border-line-strong hover:text-ink"
            >
              {suggestion}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
