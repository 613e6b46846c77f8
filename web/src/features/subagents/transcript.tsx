import { Bot } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { isToolPart, type MessagePart, type ToolPart } from "@/protocol/message";
import { partsOf, type Run } from "@/protocol/run";
import { useText } from "@/text/text";
import { Markdown } from "@/ui/markdown/markdown";
import { Spinner } from "@/ui/spinner";

interface TranscriptProps {
  run: Run;
  drawTool: (part: ToolPart, isLive: boolean) => ReactNode;
  /** Called when the transcript is shown and its steps are not known. */
  onNeeded: () => void;
}

/** The transcript of a sub-agent, inside the card of the call that started it. */
export function Transcript({ run, drawTool, onNeeded }: TranscriptProps) {
  const t = useText();
  const { isWhole } = run;
  // biome-ignore lint/correctness/useExhaustiveDependencies: loaded once, when it is shown
  useEffect(() => {
    if (!isWhole) onNeeded();
  }, [isWhole]);
  const isLive = run.state === "running";
  const words = { running: t.toolRunning, done: t.toolDone, failed: t.toolFailed, stopped: t.toolInterrupted };
  return (
    <section aria-label={`${run.agent}: ${words[run.state]}`} className="space-y-3">
      <p className="flex items-center gap-2 text-[13px] text-soft">
        <Bot size={15} aria-hidden="true" />
        <span className="font-medium">{run.agent}</span>
        <span className="flex-1">{words[run.state]}</span>
        {isLive ? <Spinner /> : null}
      </p>
      <div className="space-y-3 border-l-2 border-line pl-3.5 text-[14px]">
        {partsOf(run).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever appended
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
