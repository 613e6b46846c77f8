import type { ReactNode } from "react";

/** The inside of a side panel: a hint, actions and the scrolling content. */
export function PanelBody({ hint, actions, children }: { hint: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-start gap-3 px-5 pt-1 pb-3">
        <p className="min-w-0 flex-1 text-[13px] text-soft">{hint}</p>
        {actions}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <div tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-5 pb-6 -outline-offset-2">
        {children}
      </div>
    </div>
  );
}

interface RowProps {
  title: string;
  detail?: string | null;
  mark?: ReactNode;
  /** Opens it. */
  onOpen?: () => void;
  children?: ReactNode;
}

/** An item in a list: its title, a detail on the right and a description. */
export function Row({ title, detail, mark, onOpen, children }: RowProps) {
  return (
    <li className="border-t border-line py-3 first:border-t-0">
      <div className="flex items-baseline gap-2.5">
        {mark}
        {onOpen === undefined ? (
          <span className="min-w-0 flex-1 truncate text-[14px] font-medium">{title}</span>
        ) : (
          <button
            type="button"
            onClick={onOpen}
            className="min-w-0 flex-1 truncate text-left text-[14px] font-medium hover:text-accent hover:underline hover:decoration-line-strong hover:underline-offset-4"
          >
            {title}
          </button>
        )}
        {detail ? <span className="shrink-0 text-[12px] text-faint">{detail}</span> : null}
      </div>
      {children ? <div className="mt-0.5 text-[13px] text-soft">{children}</div> : null}
    </li>
  );
}

/** Something that could not be loaded: what, why and where. */
export function FaultRow({ name, message, source, note, onOpen }: FaultRowProps) {
  return (
    <li className="my-3 rounded-xl bg-danger-soft px-4 py-3 text-[13px]">
      {onOpen === undefined ? (
        <p className="font-medium text-danger">{name}</p>
      ) : (
        <button type="button" onClick={onOpen} className="font-medium text-danger underline underline-offset-4">
          {name}
        </button>
      )}
      <p className="break-words whitespace-pre-wrap">{message}</p>
      {source ? <p className="mt-1 font-mono text-[12px] break-all text-soft">{source}</p> : null}
      {note ? <p className="mt-1 text-soft">{note}</p> : null}
    </li>
  );
}

interface FaultRowProps {
  name: string;
  message: string;
  source: string | null;
  note?: string | null;
  /** Opens its text. */
  onOpen?: () => void;
}
