import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";

/** An error in words, with actions that help. */
export function Notice({ title, hint, children }: { title: string; hint?: string | null; children?: ReactNode }) {
  return (
    <div role="alert" className="flex gap-3 rounded-xl bg-danger-soft px-4 py-3 text-[14px]">
      <CircleAlert size={17} className="mt-[3px] shrink-0 text-danger" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="break-words font-medium">{title}</p>
        {hint ? <p className="break-words text-soft">{hint}</p> : null}
        {children ? <div className="mt-2.5 flex flex-wrap gap-2">{children}</div> : null}
      </div>
    </div>
  );
}
