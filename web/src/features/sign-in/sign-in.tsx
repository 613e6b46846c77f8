import { useId, useState } from "react";
import type { OwnerStore } from "@/features/sign-in/owner";
import { errorText } from "@/text/errors";
import { type Text, useText } from "@/text/text";
import { ServerError } from "@/transport/http";
import { Button } from "@/ui/button";
import { Logo } from "@/ui/logo";

function problemText(t: Text, error: unknown): string {
  if (error instanceof ServerError && error.status === 401) return t.wrongKey;
  return errorText(error, t);
}

/** Shown in place of the page until the user has signed in. */
export function SignIn({ owner }: { owner: OwnerStore }) {
  const t = useText();
  const id = useId();
  const [key, setKey] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const enter = async () => {
    setBusy(true);
    try {
      await owner.enter(key);
    } catch (error) {
      setProblem(problemText(t, error));
      setBusy(false);
    }
  };
  return (
    <main className="flex h-full items-center justify-center px-4">
      <form
        className="flex w-full max-w-90 flex-col items-center text-center"
        onSubmit={(event) => {
          event.preventDefault();
          if (key !== "") void enter();
        }}
      >
        <Logo size={44} />
        <h1 className="mt-5 text-[26px] leading-tight font-semibold tracking-[-0.022em]">{t.signIn}</h1>
        <label htmlFor={id} className="mt-1.5 text-soft">
          {t.signInHint}
        </label>
        <input
          id={id}
          type="password"
          autoComplete="current-password"
          // biome-ignore lint/a11y/noAutofocus: there is nothing else on this page
          autoFocus
          aria-label={t.key}
          aria-invalid={problem !== null}
          value={key}
          onChange={(event) => {
            setKey(event.target.value);
            setProblem(null);
          }}
          className={`mt-6 h-10 w-full rounded-xl border bg-surface px-3.5 ${problem === null ? "border-line focus:border-line-strong" : "border-danger"}`}
        />
        {problem === null ? null : (
          <p role="alert" className="mt-2 text-[13px] text-danger">
            {problem}
          </p>
        )}
        <Button look="primary" type="submit" className="mt-3 h-10 w-full rounded-xl" disabled={isBusy || key === ""}>
          {t.signIn}
        </Button>
      </form>
    </main>
  );
}
