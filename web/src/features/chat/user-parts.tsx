import { Paperclip } from "lucide-react";
import type { MessagePart } from "@/protocol/message";

/** What a person has written and attached. */
export function UserParts({ parts }: { parts: readonly MessagePart[] }) {
  return parts.map((part, index) => {
    if (part.type === "text" && part.text !== "") {
      return (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a sent message does not change
          key={index}
          className="max-w-[85%] rounded-2xl rounded-br-md bg-raised px-4 py-2.5 break-words whitespace-pre-wrap"
        >
          {part.text}
        </div>
      );
    }
    // biome-ignore lint/suspicious/noArrayIndexKey: a sent message does not change
    return part.type === "file" ? <FilePart key={index} part={part} /> : null;
  });
}

export function FilePart({ part }: { part: Extract<MessagePart, { type: "file" }> }) {
  const name = part.filename ?? part.mediaType;
  const isOwn = part.url.startsWith("data:image/") || part.url.startsWith("/");
  if (part.mediaType.startsWith("image") && isOwn) {
    return <img src={part.url} alt={name} className="max-h-72 max-w-[85%] rounded-xl border border-line" />;
  }
  return (
    <span className="flex items-center gap-2 rounded-xl border border-line bg-surface px-3 py-2 text-[13px]">
      <Paperclip size={14} className="text-faint" aria-hidden="true" /> {name}
    </span>
  );
}
