import { useState } from "react";
import { type MessagePiece, piecesOf } from "@/features/inspector/requests";
import type { ModelRequest } from "@/protocol/run";
import { text } from "@/protocol/shapes";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";

/** The messages that the model was sent; those that the previous request had too are hidden at first. */
export function RequestView({ request }: { request: ModelRequest }) {
  const t = useText();
  const [isWhole, setWhole] = useState(false);
  const { messages, kept, tools } = request;
  const hidden = isWhole ? 0 : kept;
  return (
    <div className="mb-3 space-y-2.5">
      <div className="flex items-center gap-3 text-[12px] text-faint">
        <span className="min-w-0 flex-1">{t.requestSent(messages.length, request.model)}</span>
        <CopyButton text={JSON.stringify(messages, null, 2)} label={t.copyRequest} />
      </div>
      {hidden > 0 ? (
        <Button look="plain" className="w-full border border-dashed border-line" onClick={() => setWhole(true)}>
          {t.messagesBefore(hidden)}
        </Button>
      ) : null}
      <ol className="space-y-2.5">
        {messages.slice(hidden).map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a message is identified by its position
          <MessageBlock key={hidden + index} message={message} />
        ))}
      </ol>
      {tools.length > 0 ? (
        <p className="text-[12px] break-words text-faint">
          {t.toolsOffered(request.toolChoice)} <span className="font-mono">{tools.join(", ")}</span>
        </p>
      ) : null}
    </div>
  );
}

const EDGES: Record<string, string> = {
  system: "border-l-line-strong",
  user: "border-l-accent",
  assistant: "border-l-[var(--code-name)]",
  tool: "border-l-warn",
};

function MessageBlock({ message }: { message: Record<string, unknown> }) {
  const role = text(message["role"], "?");
  const pieces = piecesOf(message);
  const id = text(message["tool_call_id"]);
  return (
    <li className={`rounded-lg border border-l-[3px] border-line bg-surface ${EDGES[role] ?? ""}`}>
      <div className="flex h-8 items-center gap-2 pr-1 pl-3 text-[12px]">
        <span className="font-medium">{role}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-faint">{id}</span>
        <CopyButton text={pieces.map((piece) => piece.text).join("\n\n")} />
      </div>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is identified by its position
        <Piece key={index} piece={piece} />
      ))}
    </li>
  );
}

/** Longer texts are shortened on screen, but copied in full. */
const SHOWN = 1200;

function Piece({ piece }: { piece: MessagePiece }) {
  const t = useText();
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && piece.text.length > SHOWN * 1.2;
  const shown = isCut ? `${piece.text.slice(0, SHOWN)}…` : piece.text;
  return (
    <div className="px-3 pb-2.5 text-[12.5px]">
      {piece.kind === "text" ? null : (
        <p className="mb-1 font-mono text-[12px] text-soft">
          {piece.name} {piece.kind === "call" ? <span className="text-faint">{piece.id}</span> : null}
        </p>
      )}
      <p className={`leading-[1.6] break-words whitespace-pre-wrap ${piece.kind === "text" ? "" : "font-mono"}`}>
        {shown}
      </p>
      {isCut ? (
        <Button look="plain" className="mt-1 -ml-3" onClick={() => setWhole(true)}>
          {t.showCharacters(piece.text.length - SHOWN)}
        </Button>
      ) : null}
    </div>
  );
}
