import { type ReactNode, useState } from "react";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { TextField } from "@/ui/field";
import { useKeptState } from "@/ui/kept-state";
import { ErrorLine } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";

export interface FileText {
  path: string;
  text: string;
  version: string;
  /** What is wrong with the text as it is. */
  problem?: string | null;
}

interface FileEditorProps<Content extends FileText> {
  first: Content;
  read: () => Promise<Content>;
  /** Rejects an invalid text, and one that has changed since `version`. */
  write: (text: string, version: string) => Promise<Content>;
  onSaved: (content: Content) => unknown;
  hint: string;
  placeholder?: string;
  /** Further buttons. */
  children?: ReactNode;
}

/** Edits a file of the server: an invalid text is refused with the reason, and nobody overwrites another's change. */
export function FileEditor<Content extends FileText>(props: FileEditorProps<Content>) {
  const { first, read, write, onSaved, hint, placeholder, children } = props;
  const t = useText();
  const [file, setFile] = useState(first);
  // With the version that it changes: if others change the file before it is saved, that is noticed.
  const [draft, keep] = useKeptState<Pick<FileText, "text" | "version">>(`file.${first.path}`);
  const { text, version } = draft ?? file;
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isStale = isConflict(error);
  const attempt = async (work: () => Promise<Content>) => {
    setBusy(true);
    setError(null);
    try {
      const now = await work();
      setFile(now);
      // What was typed in the meantime stays.
      keep((current) => (current === null || current === draft ? null : { ...current, version: now.version }));
      return now;
    } catch (problem) {
      setError(problem);
      return null;
    } finally {
      setBusy(false);
    }
  };
  const save = async () => {
    const saved = await attempt(() => write(text, version));
    if (saved !== null) await onSaved(saved);
  };
  const isChanged = text !== file.text;
  return (
    <div className="space-y-3">
      <TextField
        name={file.path}
        hint={hint}
        error={error === null ? file.problem : null}
        value={text}
        onChange={(now) => keep(now === file.text ? null : { text: now, version })}
        rows={22}
        isCode
        {...(placeholder === undefined ? {} : { placeholder })}
      />
      {error === null ? null : isStale ? (
        <p role="alert" className="text-[13px] text-danger">
          {t.fileHasChanged}
        </p>
      ) : (
        <ErrorLine error={error} />
      )}
      <div className="flex flex-wrap gap-2">
        <Button look="primary" disabled={isBusy || !isChanged} onClick={() => void save()}>
          {isBusy ? <Spinner /> : null} {t.save}
        </Button>
        {isStale ? <Button onClick={() => void attempt(read)}>{t.readAgain}</Button> : null}
        {isChanged ? (
          <Button look="plain" onClick={() => keep(null)}>
            {t.discardChanges}
          </Button>
        ) : null}
        {children}
      </div>
    </div>
  );
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 409;
}
