import { useEffect, useRef, useState } from "react";
import { EFFORTS, LONGEST_INSTRUCTIONS, NO_OPTIONS, readOptions, writeOptions } from "@/features/chat/option-fields";
import type { ChatOptions, ChoiceChange } from "@/protocol/session";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { SelectField, TextField } from "@/ui/field";
import { ErrorLine } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";

interface OptionsDialogProps {
  options: ChatOptions;
  /** Stores a change, in which null removes an option; rejects with the reason if it is refused. */
  onSave: (change: ChoiceChange) => Promise<void>;
  onClose: () => void;
}

/** The instructions and parameters of this chat. */
export default function OptionsDialog({ options, onSave, onClose }: OptionsDialogProps) {
  const t = useText();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("textarea, select")?.focus(), []);
  const [fields, setFields] = useState(() => writeOptions(options));
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const { change, wrong } = readOptions(fields);
  const save = async (wanted: ChoiceChange) => {
    setBusy(true);
    try {
      await onSave(wanted);
      onClose();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const submit = () => {
    setTried(true);
    if (wrong.length === 0) void save(change);
  };
  const errorOf = (name: keyof typeof fields, text: string) => (isTried && wrong.includes(name) ? text : null);
  return (
    <Dialog
      title={t.chatOptions}
      size="medium"
      onClose={onClose}
      actions={
        <>
          <Button look="plain" className="mr-auto" disabled={isBusy} onClick={() => void save(NO_OPTIONS)}>
            {t.reset}
          </Button>
          <Button look="plain" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button look="primary" disabled={isBusy} onClick={submit}>
            {isBusy ? <Spinner /> : null} {t.save}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <p className="text-[13px] text-soft">{t.chatOptionsHint}</p>
        <TextField
          name={t.instructions}
          hint={t.instructionsHint}
          rows={5}
          value={fields.instructions}
          error={errorOf("instructions", t.instructionsTooLong(LONGEST_INSTRUCTIONS.toLocaleString()))}
          onChange={(instructions) => setFields({ ...fields, instructions })}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            name={t.temperature}
            hint={t.temperatureHint}
            value={fields.temperature}
            error={errorOf("temperature", t.temperatureWrong)}
            onChange={(temperature) => setFields({ ...fields, temperature })}
          />
          <TextField
            name={t.longestAnswer}
            hint={t.longestAnswerHint}
            value={fields.longestAnswer}
            error={errorOf("longestAnswer", t.longestAnswerWrong)}
            onChange={(longestAnswer) => setFields({ ...fields, longestAnswer })}
          />
          <SelectField
            name={t.thinkingEffort}
            hint={t.thinkingEffortHint}
            value={fields.thinking}
            choices={["", ...EFFORTS].map((value) => ({ value, name: t.thinkingEfforts[value] ?? value }))}
            onChange={(thinking) => setFields({ ...fields, thinking })}
          />
        </div>
        {problem === null ? null : <ErrorLine error={problem} />}
        {/* Enter in a field saves. */}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
