import { CallInput, Field } from "@/features/tool-cards/call-input";
import { Output } from "@/features/tool-cards/output";
import { LiveTail, Plain } from "@/features/tool-cards/plain";
import { shellDetails } from "@/features/tool-cards/shell-details";
import { declineReason } from "@/features/tool-cards/tool-view";
import { isOpenCall, type ToolPart, toolName } from "@/protocol/message";
import { isRecord } from "@/protocol/shapes";
import { useText } from "@/text/text";

/** The input and output of a call; loaded when the first one is opened. */
export function StepDetails({ part, isOutputInside }: { part: ToolPart; isOutputInside: boolean }) {
  const t = useText();
  const own = toolName(part) === "run_shell_command" ? shellDetails(part) : null;
  if (own !== null) return own;
  return (
    <>
      <InputField part={part} />
      {part.state === "output-available" && !isOutputInside ? (
        <Field name={t.output}>
          <StepOutput part={part} />
        </Field>
      ) : null}
      {part.state === "output-error" ? (
        <Field name={t.error}>
          <Plain text={part.errorText} isError />
        </Field>
      ) : null}
      {declineReason(part) === "" ? null : (
        <Field name={t.declineReason}>
          <Plain text={declineReason(part)} />
        </Field>
      )}
    </>
  );
}

function InputField({ part }: { part: ToolPart }) {
  const t = useText();
  const raw = part.state === "input-streaming" ? part.rawInput : undefined;
  if (raw === undefined && isInLine(part)) return null;
  return (
    <Field name={t.input}>{raw === undefined ? <CallInput input={part.input} /> : <Plain text={String(raw)} />}</Field>
  );
}

/** The output alone, as far as it is there. */
export function StepOutput({ part }: { part: ToolPart }) {
  if (part.state !== "output-available") return null;
  return isOpenCall(part) ? <LiveTail output={part.output} /> : <Output output={part.output} />;
}

/** Whether the line of a call that is done already has all of its input. */
function isInLine({ input, state }: ToolPart): boolean {
  if (!isRecord(input)) return input === undefined || input === null;
  const values = Object.values(input);
  const [only] = values;
  const isShort = typeof only !== "object" && String(only).length < 60 && !String(only).includes("\n");
  return values.length === 0 || (values.length === 1 && isShort && state === "output-available");
}
