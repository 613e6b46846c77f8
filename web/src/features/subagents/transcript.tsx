import { Bot } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { isToolPart, type MessagePart, type ToolPart } from "@/protocol/message";
import type { SubAgentStream } from "@/protocol/subagent";
import { useText } from "@/text/text";
import { Markdown } from "@/ui/markdown/markdown";
import { Spinner } from "@/ui/spinner";

interface TranscriptProps {
  stream: SubAgentStream;
  drawTool: (part: ToolPart, isLive: boolean) => ReactNode;
  /** Called when the transcript is shown and only its frame is known. */
  onNeeded: () => void;
}

/** What a sub-agent says and does, inside the card of the call that started it. */
export function Transcript({ stream, drawTool, onNeeded }: TranscriptProps) {
  const t = useText();
  const { isWhole } = stream;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked for once, when it is shown
  useEffect(() => {
    if (!isWhole) onNeeded();
  }, [isWhole]);
  const isLive = stream.state === "running";
  const words = { running: t.toolRunning, done: t.toolDone, failed: t.toolFailed, stopped: t.toolInterrupted };
  return (
    <section aria-label={`${stream.agent}: ${words[stream.state]}`} className="space-y-3">
      <p className="flex items-center gap-2 text-[13px] text-soft">
        <Bot size={15} aria-hidden="true" />
        <span className="font-medium">{stream.agent}</span>
        <span className="flex-1">{words[stream.state]}</span>
        {isLive ? <Spinner /> : null}
      </p>
      <div className="space-y-3 border-l-2 border-line pl-3.5 text-[14px]">
        {stream.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts only ever grow at the end
          <TranscriptPart key={index} part={part} isLive={isLive} drawTool={drawTool} />
        ))}
      </div>
    </section>
  );
}

function TranscriptPart({
  part,
  isLive,
  drawTool,
}: { part: MessagePart; isLive: boolean } & Pick<TranscriptProps, "drawTool">) {
  if (part.type === "text") return <Markdown text={part.text} isStreaming={isLive && part.state === "streaming"} />;
  return isToolPart(part) ? drawTool(part, isLive) : null;
}
