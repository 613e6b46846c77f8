import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { describeError } from "@/text/errors";
import { useText } from "@/text/text";
import { RemedyLink, remedyOf } from "@/ui/remedy";

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

/** An error of the page or the server, in the reader's language. */
export function ErrorNotice({ error, children }: { error: unknown; children?: ReactNode }) {
  const { title, detail } = describeError(error, useText());
  const remedy = remedyOf(error);
  if (remedy === null) {
    return (
      <Notice title={title} hint={detail}>
        {children}
      </Notice>
    );
  }
  return (
    <Notice title={title} hint={detail}>
      {children}
      <RemedyLink remedy={remedy} />
    </Notice>
  );
}

/** The same in one line, below what has failed. */
export function ErrorLine({ error }: { error: unknown }) {
  const { title, detail } = describeError(error, useText());
  const remedy = remedyOf(error);
  return (
    <div role="alert" className="text-[13px] break-words text-danger">
      <p>{title}</p>
      {detail === null ? null : <p className="text-soft">{detail}</p>}
      {remedy === null ? null : (
        <p className="flex flex-wrap gap-2 pt-1">
          <RemedyLink remedy={remedy} />
        </p>
      )}
    </div>
  );
}
