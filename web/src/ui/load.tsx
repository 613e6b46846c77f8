import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";

type Loaded<T> = { state: "loading" } | { state: "failed"; error: Error } | { state: "there"; value: T };

interface LoadProps<T> {
  /** Must keep its identity as long as the same data is meant. */
  load: () => Promise<T>;
  children: (value: T, reload: () => Promise<void>) => ReactNode;
}

/** Shows the result of a request: a spinner, a readable error with a retry button, or the data. */
export function Load<T>({ load, children }: LoadProps<T>) {
  const t = useText();
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
  const reload = useCallback(async () => {
    try {
      setLoaded({ state: "there", value: await load() });
    } catch (error) {
      setLoaded({ state: "failed", error: error instanceof Error ? error : new Error(String(error)) });
    }
  }, [load]);
  useEffect(() => void reload(), [reload]);
  if (loaded.state === "loading") {
    return (
      <p role="status" className="flex items-center gap-2.5 p-4 text-[13px] text-faint">
        <Spinner /> {t.loading}
      </p>
    );
  }
  if (loaded.state === "failed") {
    return (
      <div className="p-4">
        <Notice title={loaded.error.message}>
          <Button onClick={() => void reload()}>{t.retry}</Button>
        </Notice>
      </div>
    );
  }
  return children(loaded.value, reload);
}
