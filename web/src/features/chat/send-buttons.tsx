import { ArrowUp, ChevronDown, CornerDownRight, ListEnd, Square } from "lucide-react";
import type { ReactNode } from "react";
import type { MessageMode } from "@/protocol/inbox";
import { useText } from "@/text/text";
import { Menu, MenuItem } from "@/ui/menu";

interface SendButtonsProps {
  /** Whether an answer is in progress. */
  isBusy: boolean;
  canSend: boolean;
  onSend: (mode: MessageMode) => void;
  onStop: () => void;
}

/** Send; during an answer: stop it, send a message into it, or have the message answered after it. */
export function SendButtons({ isBusy, canSend, onSend, onStop }: SendButtonsProps) {
  const t = useText();
  if (!isBusy) {
    return (
      <RoundButton label={t.send} isDisabled={!canSend} type="submit">
        <ArrowUp size={17} strokeWidth={2.25} aria-hidden="true" />
      </RoundButton>
    );
  }
  return (
    <>
      {canSend ? (
        <>
          <Menu
            label={t.whenToSend}
            face={<ChevronDown size={15} aria-hidden="true" />}
            placement="top-end"
            className="!min-w-7 !px-0"
          >
            <MenuItem onSelect={() => onSend("steer")}>
              <CornerDownRight size={14} aria-hidden="true" /> <span className="flex-1">{t.sendIntoAnswer}</span>
              <Keys>Enter</Keys>
            </MenuItem>
            <MenuItem onSelect={() => onSend("queue")}>
              <ListEnd size={14} aria-hidden="true" /> <span className="flex-1">{t.sendAfterAnswer}</span>
              <Keys>{/mac|iphone|ipad/i.test(navigator.platform) ? "⌥Enter" : "Alt+Enter"}</Keys>
            </MenuItem>
          </Menu>
          <RoundButton label={t.sendIntoAnswer} type="submit">
            <ArrowUp size={17} strokeWidth={2.25} aria-hidden="true" />
          </RoundButton>
        </>
      ) : null}
      <RoundButton label={t.stop} onClick={onStop} isQuiet={canSend}>
        <Square size={12} fill="currentColor" aria-hidden="true" />
      </RoundButton>
    </>
  );
}

function Keys({ children }: { children: string }) {
  return <kbd className="pl-4 font-sans text-[12px] text-faint max-sm:hidden">{children}</kbd>;
}

interface RoundButtonProps {
  label: string;
  type?: "button" | "submit";
  isDisabled?: boolean;
  /** Whether another button is the main one. */
  isQuiet?: boolean;
  onClick?: () => void;
  children: ReactNode;
}

function RoundButton({ label, type = "button", isDisabled, isQuiet = false, onClick, children }: RoundButtonProps) {
  const look = isQuiet ? "border border-line text-ink hover:border-line-strong" : "bg-accent text-accent-ink";
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      disabled={isDisabled}
      onClick={onClick}
      className={`flex size-8 shrink-0 items-center justify-center rounded-full transition hover:opacity-90 disabled:bg-raised disabled:text-faint disabled:opacity-100 ${look}`}
    >
      {children}
    </button>
  );
}
