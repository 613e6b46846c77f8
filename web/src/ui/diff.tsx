import { memo, useMemo, useState } from "react";
import { useText } from "@/text/text";
import { showLinesToApprove } from "@/text/visible";
import { Button } from "@/ui/button";
import { type DiffFile, type DiffLine, parseDiff } from "@/ui/diff-lines";

/** A longer diff is folded after this many lines. */
const LIMIT = 60;

interface DiffProps {
  /** A unified diff of one or more files. */
  text: string;
  /** The file, if the diff does not name it. */
  path?: string;
  /** How many lines are shown before the rest is folded. */
  limit?: number;
}

/** A unified diff with line numbers; what has changed inside a line is marked. */
export const Diff = memo(function Diff({ text, path = "", limit = LIMIT }: DiffProps) {
  const files = useMemo(() => parseDiff(showLinesToApprove(text.replaceAll("\r\n", "\n"))), [text]);
  return (
    <div className="space-y-3">
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a file is identified by its position
        <FileDiff key={index} file={file} path={file.path || path} limit={limit} />
      ))}
    </div>
  );
});

function FileDiff({ file, path, limit }: { file: DiffFile; path: string; limit: number }) {
  const t = useText();
  const [isWhole, setWhole] = useState(false);
  const total = file.hunks.reduce((sum, hunk) => sum + hunk.length, 0);
  const hunks = isWhole || total <= limit + 5 ? file.hunks : firstLines(file.hunks, limit);
  const shown = hunks.reduce((sum, hunk) => sum + hunk.length, 0);
  return (
    <figure aria-label={path || t.diff} className="@container overflow-hidden rounded-lg border border-line bg-surface">
      <figcaption className="flex items-baseline gap-3 border-b border-line bg-sunken px-3 py-1.5 font-mono text-[12px]">
        <span className="min-w-0 flex-1 truncate">{path}</span>
        <DiffCount added={file.added} removed={file.removed} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <div tabIndex={0} className="overflow-x-auto font-mono text-[12.5px] leading-[1.6] -outline-offset-2">
        <div className="min-w-max py-1">
          {hunks.map((lines, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a hunk is identified by its position
            <div key={index} className={index === 0 ? "" : "mt-1 border-t border-dashed border-line pt-1"}>
              {lines.map((line, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its position
                <Line key={place} line={line} />
              ))}
            </div>
          ))}
        </div>
      </div>
      {shown < total ? (
        <div className="border-t border-line p-1">
          <Button look="plain" className="w-full" onClick={() => setWhole(true)}>
            {t.showMoreLines(total - shown)}
          </Button>
        </div>
      ) : null}
    </figure>
  );
}

/** How many lines a change adds and removes. */
export function DiffCount({ added, removed }: { added: number; removed: number }) {
  const t = useText();
  return (
    <span className="flex shrink-0 gap-2 text-[12px] tabular-nums" title={t.linesChanged(added, removed)}>
      <span className="sr-only">{t.linesChanged(added, removed)}</span>
      <span aria-hidden="true" className="text-accent">
        +{added}
      </span>
      <span aria-hidden="true" className="text-danger">
        −{removed}
      </span>
    </span>
  );
}

const LOOKS: Record<DiffLine["kind"], { row: string; sign: string; mark: string }> = {
  same: { row: "", sign: " ", mark: "" },
  added: { row: "bg-accent-soft", sign: "+", mark: "bg-accent/25" },
  removed: { row: "bg-danger-soft", sign: "-", mark: "bg-danger/25" },
};

function Line({ line }: { line: DiffLine }) {
  const { row, sign, mark } = LOOKS[line.kind];
  const [from, to] = line.mark ?? [line.text.length, line.text.length];
  const number = "w-9 shrink-0 pr-2 text-right text-faint select-none";
  return (
    <div data-diff={line.kind} className={`flex ${row}`}>
      <span aria-hidden="true" className={`${number} @max-sm:hidden`}>
        {line.before}
      </span>
      <span aria-hidden="true" className={number}>
        {line.after ?? <span className="@sm:hidden">{line.before}</span>}
      </span>
      <span className={`w-4 shrink-0 ${line.kind === "added" ? "text-accent" : "text-danger"}`}>{sign}</span>
      <span className="pr-4 whitespace-pre">
        {line.text.slice(0, from)}
        {from < to ? <span className={`rounded-[3px] ${mark}`}>{line.text.slice(from, to)}</span> : null}
        {line.text.slice(to)}
      </span>
    </div>
  );
}

function firstLines(hunks: DiffFile["hunks"], limit: number): DiffFile["hunks"] {
  const shown: (readonly DiffLine[])[] = [];
  let left = limit;
  for (const hunk of hunks) {
    if (left <= 0) break;
    shown.push(hunk.slice(0, left));
    left -= hunk.length;
  }
  return shown;
}
