import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { ErrorNotice } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";
import { TokenField } from "@/ui/token-field";

type Loaded<T> = { state: "loading" } | { state: "failed"; error: Error } | { state: "there"; value: T };

interface LoadProps<T> {
  /** Must keep its identity as long as the same data is meant. */
  load: () => Promise<T>;
  /** Subscribes to what makes the data out of date. */
  follow?: (onChange: () => void) => () => void;
  children: (value: T, reload: () => Promise<void>) => ReactNode;
  /** Takes the admin token, if the server asks for it. */
  onToken?: (token: string) => void;
}

/** Shows the result of a request: a spinner, a readable error with a retry button, or the data. */
export function Load<T>({ load, follow, children, onToken }: LoadProps<T>) {
  const t = useText();
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
  const [isWrong, setWrong] = useState(false);
  const reload = useCallback(async () => {
    try {
      setLoaded({ state: "there", value: await load() });
    } catch (error) {
      setLoaded({ state: "failed", error: error instanceof Error ? error : new Error(String(error)) });
    }
  }, [load]);
  useEffect(() => void reload(), [reload]);
  useEffect(() => follow?.(() => void reload()), [follow, reload]);
  if (loaded.state === "loading") {
    return (
      <p role="status" className="flex items-center gap-2.5 p-4 text-[13px] text-faint">
        <Spinner /> {t.loading}
      </p>
    );
  }
  if (loaded.state === "failed" && onToken !== undefined && isRefused(loaded.error)) {
    const give = (token: string) => {
      onToken(token);
      setWrong(true);
      void reload();
    };
    return (
      <div className="p-5">
        <TokenField isWrong={isWrong} action={t.continueWithToken} onGiven={give} />
      </div>
    );
  }
  if (loaded.state === "failed") {
    return (
      <div className="p-4">
        <ErrorNotice error={loaded.error}>
          <Button onClick={() => void reload()}>{t.retry}</Button>
        </ErrorNotice>
      </div>
    );
  }
  return children(loaded.value, reload);
}

/** Whether the server asks for the admin token. */
export function isRefused(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 403;
}
