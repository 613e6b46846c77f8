import type { ReactNode } from "react";
import { JsonView } from "@/features/tool-cards/json-view";
import { isRecord } from "@/protocol/shapes";
import { showLinesToApprove, showToApprove } from "@/text/visible";

/** Flat values as a list of names and values; nested ones as JSON; nothing for a call without input. */
export function CallInput({ input }: { input: unknown }) {
  const entries = isRecord(input) ? Object.entries(input) : [];
  const isFlat = entries.length > 0 && entries.every(([, value]) => typeof value !== "object" || value === null);
  if (input === undefined || input === null || (isRecord(input) && entries.length === 0)) return null;
  if (!isFlat) return <JsonView value={input} />;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 font-mono text-[12.5px] leading-[1.6]">
      {entries.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{showToApprove(name)}</dt>
          <dd className="min-w-0 break-words whitespace-pre-wrap">{showLinesToApprove(String(value))}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <p className="mb-1 text-[12px] text-faint">{name}</p>
      {children}
    </div>
  );
}
