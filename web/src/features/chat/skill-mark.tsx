import { BookOpenText, CircleHelp } from "lucide-react";
import type { UsedSkill } from "@/protocol/skill";
import { useText } from "@/text/text";

/** A skill that a question uses; one that does not exist is said in words, with the nearest names. */
export function SkillMark({ skill }: { skill: UsedSkill }) {
  const t = useText();
  if (skill.isUnknown) {
    return (
      <p role="status" className="flex max-w-full items-start gap-1.5 text-[13px] text-warn">
        <CircleHelp size={14} className="mt-[3px] shrink-0" aria-hidden="true" />
        <span>
          {t.unknownSkill(skill.name)} {skill.nearest.length === 0 ? null : t.didYouMean(skill.nearest)}
        </span>
      </p>
    );
  }
  return (
    <p title={skill.description} className="flex max-w-full items-center gap-1.5 text-[12.5px] text-faint">
      <BookOpenText size={13} className="shrink-0" aria-hidden="true" /> {t.usedSkill(skill.name)}
    </p>
  );
}
