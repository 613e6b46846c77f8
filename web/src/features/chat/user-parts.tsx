import { lazy, Suspense } from "react";
import type { FilePart } from "@/features/chat/attachments";
import { SkillMark } from "@/features/chat/skill-mark";
import type { MessagePart } from "@/protocol/message";
import { skillIn } from "@/protocol/skill";

export const SentFiles = lazy(() => import("@/features/chat/sent-file"));

/** What a person has written and attached, and the skills that it names. */
export function UserParts({ parts }: { parts: readonly MessagePart[] }) {
  const files = parts.filter((part): part is FilePart => part.type === "file");
  const skills = parts.map(skillIn).filter((skill) => skill !== null);
  return (
    <div className="flex max-w-[85%] min-w-0 flex-col items-end gap-1">
      {files.length === 0 ? null : (
        <Suspense>
          <SentFiles parts={files} />
        </Suspense>
      )}
      {parts.map((part, index) =>
        part.type === "text" && part.text !== "" ? (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: a sent message does not change
            key={index}
            className="max-w-full rounded-2xl rounded-br-md bg-raised px-4 py-2.5 break-words whitespace-pre-wrap"
          >
            {part.text}
          </div>
        ) : null,
      )}
      {skills.map((skill) => (
        <SkillMark key={skill.name} skill={skill} />
      ))}
    </div>
  );
}
