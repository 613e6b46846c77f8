import { ChevronDown } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { flushSync } from "react-dom";
import { parseArguments } from "@/features/approvals/arguments";
import { AskFrame } from "@/features/approvals/ask-frame";
import { askPlaces } from "@/features/approvals/ask-places";
import { ArgumentsField, ReasonField } from "@/features/approvals/fields";
import { useText } from "@/text/text";
import { showControls, showInJson, showOnLine } from "@/text/visible";
import { useAgentName } from "@/ui/agent-name";
import { Button } from "@/ui/button";
import { Menu, MenuItem } from "@/ui/menu";

export interface ApprovalAnswer {
  approved: boolean;
  edited_args?: Record<string, unknown>;
  remember?: "once" | "run" | "always";
  /** Why not; the model reads it. */
  reason?: string;
}

interface ApprovalProps {
  askId: string;
  input: unknown;
  /** What the call would do, or its input. */
  children?: ReactNode;
  /** The sub-agents from the top down to the one that asks; empty for the chat's own agent. */
  path?: readonly string[];
  reason: string | null;
  /** How many waiting calls of this tool there are, this one included. */
  alike?: number;
  /** What else waits, and the way there. */
  others?: ReactNode;
  /** Resolves when the answer was accepted; a rejection is shown as an error. */
  onAnswer: (answer: ApprovalAnswer) => Promise<void>;
  onAllowAlike?: () => Promise<void>;
}

type Form = { kind: "none" } | { kind: "edit"; draft: string } | { kind: "reason"; reason: string };
type Remember = "once" | "run" | "always";

const NO_FORM: Form = { kind: "none" };

/** Asks for approval of a call: one way to say yes, one to say no, and the rest in a menu. */
export function Approval(props: ApprovalProps) {
  const t = useText();
  return (
    <AskFrame askId={props.askId} label={t.mayRun} others={props.others}>
      {(send) => <ApprovalForm {...props} send={send} />}
    </AskFrame>
  );
}

function ApprovalForm(props: ApprovalProps & { send: (answer: () => Promise<void>) => void }) {
  const { askId, input, children, path = [], reason, onAnswer, onAllowAlike, send } = props;
  const t = useText();
  const agentName = useAgentName();
  const [form, setForm] = useState<Form>(NO_FORM);
  const close = () => {
    flushSync(() => setForm(NO_FORM));
    askPlaces.focus(askId);
  };
  const parsed = form.kind === "edit" ? parseArguments(form.draft) : null;
  const isBroken = parsed !== null && !parsed.isValid;
  const approve = (remember: Remember) => {
    if (isBroken) return;
    const edited = parsed?.isValid ? { edited_args: parsed.value } : {};
    send(() => onAnswer({ approved: true, remember, ...edited }));
  };
  const decline = () => {
    const words = form.kind === "reason" ? form.reason.trim() : "";
    send(() => onAnswer({ approved: false, ...(words === "" ? {} : { reason: words }) }));
  };
  const actions: Record<Action, () => void> = {
    approve: () => approve("once"),
    decline,
    close,
  };
  const onKey = (event: KeyboardEvent) => {
    const action = keyAction(event, form.kind);
    if (action === null) return;
    event.preventDefault();
    event.stopPropagation();
    actions[action]();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the buttons and fields inside
    <div className="space-y-3" onKeyDown={onKey}>
      {children}
      <div className="space-y-0.5 text-[13px] text-soft empty:hidden">
        {path.length > 0 ? <p>{t.askedBy(path.map((name) => showOnLine(agentName(name))).join(" › "))}</p> : null}
        {reason ? <p className="first-letter:uppercase">{t.reasons[reason] ?? showControls(reason)}</p> : null}
      </div>
      <FormField form={form} isBroken={isBroken} onChange={setForm} />
      <div className="flex flex-wrap items-center gap-2">
        {form.kind === "reason" ? (
          <Button look="danger" onClick={decline}>
            {t.decline}
          </Button>
        ) : (
          <AllowButtons
            isEdited={form.kind === "edit"}
            isBroken={isBroken}
            onAllow={approve}
            onEdit={() => setForm({ kind: "edit", draft: showInJson(JSON.stringify(input ?? {}, null, 2)) })}
            onReason={() => setForm({ kind: "reason", reason: "" })}
          />
        )}
        {form.kind === "none" ? (
          <Button aria-keyshortcuts="n" title={t.declineKeys} onClick={decline}>
            {t.decline}
          </Button>
        ) : (
          <Button look="plain" onClick={close}>
            {form.kind === "edit" ? t.discardEdit : t.back}
          </Button>
        )}
        {onAllowAlike !== undefined && form.kind === "none" ? (
          <Button look="plain" onClick={() => send(onAllowAlike)}>
            {t.allowAlike(props.alike ?? 1)}
          </Button>
        ) : null}
      </div>
    </div>
  );
}

interface FormFieldProps {
  form: Form;
  isBroken: boolean;
  onChange: (form: Form) => void;
}

function FormField({ form, isBroken, onChange }: FormFieldProps) {
  if (form.kind === "edit") {
    return (
      <ArgumentsField draft={form.draft} isBroken={isBroken} onChange={(draft) => onChange({ kind: "edit", draft })} />
    );
  }
  if (form.kind === "none") return null;
  return <ReasonField reason={form.reason} onChange={(reason) => onChange({ kind: "reason", reason })} />;
}

interface AllowButtonsProps {
  isEdited: boolean;
  isBroken: boolean;
  onAllow: (remember: Remember) => void;
  onEdit: () => void;
  onReason: () => void;
}

/** The one way to say yes, and the menu with the others. */
function AllowButtons({ isEdited, isBroken, onAllow, onEdit, onReason }: AllowButtonsProps) {
  const t = useText();
  return (
    <div className="flex">
      <Button
        look="primary"
        data-primary=""
        aria-keyshortcuts="Alt+Enter y"
        title={t.allowKeys}
        disabled={isBroken}
        onClick={() => onAllow("once")}
        className="rounded-r-none"
      >
        {isEdited ? t.allowEdited : t.allow}
      </Button>
      <Menu
        label={t.moreAnswers}
        face={<ChevronDown size={14} aria-hidden="true" />}
        placement="bottom-start"
        className="ml-px rounded-l-none bg-accent text-accent-ink! hover:bg-accent! hover:opacity-90 aria-expanded:bg-accent"
      >
        <MenuItem onSelect={() => onAllow("run")}>{t.allowInRun}</MenuItem>
        <MenuItem onSelect={() => onAllow("always")}>{t.alwaysAllow}</MenuItem>
        {isEdited ? null : <MenuItem onSelect={onEdit}>{t.editInput}</MenuItem>}
        <MenuItem onSelect={onReason}>{t.declineWithReason}</MenuItem>
        <p className="mt-1 max-w-60 border-t border-line px-2.5 pt-1.5 pb-1 text-[12px] text-soft">{t.rememberHint}</p>
      </Menu>
    </div>
  );
}

type Action = "approve" | "decline" | "close";

/** What a key means here: `y`, `n` and Alt+Enter answer, Escape closes a form; in a field letters are letters. */
function keyAction(event: KeyboardEvent, form: Form["kind"]): Action | null {
  const target = event.target as HTMLElement;
  // A key that is held down must not answer the next ask, too.
  if (event.repeat || event.nativeEvent.isComposing || target.closest("[role=menu]") !== null) return null;
  if (event.key === "Escape") return form === "none" ? null : "close";
  const isField = target.closest("input, textarea") !== null;
  const yes: Action = form === "reason" ? "decline" : "approve";
  if (event.key === "Enter") return event.altKey || (isField && form === "reason") ? yes : null;
  return isField ? null : letterAction(event, yes);
}

function letterAction({ key, altKey, ctrlKey, metaKey }: KeyboardEvent, yes: Action): Action | null {
  if (altKey || ctrlKey || metaKey) return null;
  return key.toLowerCase() === "y" ? yes : key.toLowerCase() === "n" ? "decline" : null;
}
