import { ChevronLeft, ChevronRight } from "lucide-react";
import type { SiblingInfo } from "@/protocol/session";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";

interface BranchNavProps {
  siblings: SiblingInfo | undefined;
  isDisabled: boolean;
  onSwitch: (messageId: string) => void;
}

/** ‹ 2/3 ›: the versions of a question or an answer. */
export function BranchNav({ siblings, isDisabled, onSwitch }: BranchNavProps) {
  const t = useText();
  if (siblings === undefined || siblings.total < 2) return null;
  const { index, total, previous, next } = siblings;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      role="group"
      aria-label={t.version(index + 1, total)}
      className="flex items-center text-[12.5px] text-faint tabular-nums"
    >
      <IconButton
        label={t.previousVersion}
        className="size-7"
        disabled={isDisabled || previous === null}
        onClick={() => previous !== null && onSwitch(previous)}
      >
        <ChevronLeft size={15} />
      </IconButton>
      <span aria-hidden="true">
        {index + 1}/{total}
      </span>
      <IconButton
        label={t.nextVersion}
        className="size-7"
        disabled={isDisabled || next === null}
        onClick={() => next !== null && onSwitch(next)}
      >
        <ChevronRight size={15} />
      </IconButton>
    </div>
  );
}
