import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useText } from "@/text/text";
import { showInJson } from "@/text/visible";

/** Lists and objects deeper than this, or longer, are closed at first. */
const OPEN_DEPTH = 2;
const OPEN_ENTRIES = 30;
const PAGE = 100;
const LONG_TEXT = 2000;

/** JSON with colours; lists and objects can be folded. */
export function JsonView({ value }: { value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <div tabIndex={0} className="max-h-96 overflow-auto font-mono text-[12.5px] leading-[1.6]">
      <Node value={value} name={null} depth={0} isLast />
    </div>
  );
}

interface NodeProps {
  value: unknown;
  /** The key in an object; null in a list and at the top. */
  name: string | null;
  depth: number;
  isLast: boolean;
}

function Node({ value, name, depth, isLast }: NodeProps) {
  const key = name === null ? null : <Key name={name} />;
  const comma = isLast ? "" : ",";
  if (typeof value !== "object" || value === null) {
    return (
      <div className="break-words whitespace-pre-wrap">
        {key}
        <Leaf value={value} />
        {comma}
      </div>
    );
  }
  const entries: [string | null, unknown][] = Array.isArray(value)
    ? value.map((one) => [null, one])
    : Object.entries(value);
  const marks = Array.isArray(value) ? "[]" : "{}";
  if (entries.length === 0) {
    return (
      <div>
        {key}
        {marks}
        {comma}
      </div>
    );
  }
  return <Branch name={key} entries={entries} marks={marks} depth={depth} comma={comma} />;
}

interface BranchProps {
  name: ReactNode;
  entries: readonly [string | null, unknown][];
  marks: string;
  depth: number;
  comma: string;
}

function Branch({ name, entries, marks, depth, comma }: BranchProps) {
  const t = useText();
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && entries.length <= OPEN_ENTRIES);
  const [count, setCount] = useState(PAGE);
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="-ml-1 rounded px-1 text-left hover:bg-raised"
      >
        <ChevronRight
          size={12}
          aria-hidden="true"
          className={`-ml-0.5 inline-block text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
        {name}
        {marks[0]}
        {isOpen ? null : (
          <>
            <span className="text-faint"> {t.entryCount(entries.length)} </span>
            {marks[1]}
            {comma}
          </>
        )}
      </button>
      {isOpen ? (
        <>
          <div className="ml-1.5 border-l border-line pl-3.5">
            {entries.slice(0, count).map(([key, value], index) => (
              <Node
                // biome-ignore lint/suspicious/noArrayIndexKey: an entry is identified by its position
                key={index}
                name={key}
                value={value}
                depth={depth + 1}
                isLast={index === entries.length - 1}
              />
            ))}
            {entries.length > count ? (
              <button
                type="button"
                onClick={() => setCount(count + 10 * PAGE)}
                className="rounded px-1 text-soft underline hover:text-ink"
              >
                {t.showMore(entries.length - count)}
              </button>
            ) : null}
          </div>
          <div>
            {marks[1]}
            {comma}
          </div>
        </>
      ) : null}
    </div>
  );
}

function Key({ name }: { name: string }) {
  return (
    <>
      <span className="text-(--code-name)">{showInJson(JSON.stringify(name))}</span>
      {": "}
    </>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  const t = useText();
  if (typeof value !== "string") {
    return <span className={value === null ? "text-faint" : "text-(--code-number)"}>{String(value)}</span>;
  }
  const written = showInJson(JSON.stringify(value));
  const isCut = !isWhole && written.length > LONG_TEXT;
  return (
    <span className="text-(--code-string)">
      {isCut ? `${written.slice(0, LONG_TEXT)}…` : written}
      {isCut ? (
        <button type="button" onClick={() => setWhole(true)} className="ml-1 text-soft underline hover:text-ink">
          {t.showMore(written.length - LONG_TEXT)}
        </button>
      ) : null}
    </span>
  );
}
