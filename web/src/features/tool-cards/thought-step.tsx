import { memo, useState } from "react";
import { Step } from "@/features/tool-cards/step";
import { StepIcon } from "@/features/tool-cards/step-icon";
import type { ReasoningPart } from "@/protocol/segments";
import { useText } from "@/text/text";
import { Markdown } from "@/ui/markdown/markdown";

/** The model's reasoning, on the line of work; closed, so that the answer stays in focus. */
export const ThoughtStep = memo(function ThoughtStep({ part, isLive }: { part: ReasoningPart; isLive: boolean }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const isThinking = isLive && part.state === "streaming";
  return (
    <Step
      label={isThinking ? t.thinking : t.thought}
      icon={<StepIcon activity="thought" />}
      words={<span className={isThinking ? "animate-breathe" : ""}>{isThinking ? t.thinking : t.thought}</span>}
      isOpen={isOpen}
      onToggle={() => setOpen(!isOpen)}
    >
      <div className="text-[14px] text-soft">
        <Markdown text={part.text} isStreaming={isThinking} />
      </div>
    </Step>
  );
});
