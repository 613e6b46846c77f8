import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useText } from "@/text/text";
import { Button, IconButton } from "@/ui/button";
import { isRefused } from "@/ui/load";
import { ErrorLine } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";
import { TokenField } from "@/ui/token-field";

interface DialogProps {
  title: string;
  onClose: () => void;
  /** The buttons at the bottom. */
  actions?: ReactNode;
  /** How wide it may become. */
  size?: "small" | "medium" | "large";
  children?: ReactNode;
}

const SIZES = { small: "28rem", medium: "40rem", large: "60rem" };

/** A dialog above the page: Escape, the cross and a click next to it close it; the focus returns where it was, or rests. */
export function Dialog({ title, onClose, actions, size = "small", children }: DialogProps) {
  const t = useText();
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      const home = before?.isConnected ? before : document.querySelector("[data-rest]");
      if (home instanceof HTMLElement) home.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={onClose}
      onPointerDown={(event) => event.target === dialog.current && onClose()}
      style={{ width: `min(${SIZES[size]}, calc(100vw - 2rem))` }}
      className="m-auto max-h-[min(48rem,calc(100dvh-2rem))] rounded-2xl border border-line bg-surface p-0 text-ink shadow-float backdrop:bg-black/25"
    >
      <div className="flex max-h-[inherit] flex-col">
        <header className="flex shrink-0 items-center gap-2 py-3 pr-3 pl-5">
          <h2 id={heading} className="min-w-0 flex-1 text-[15px] font-semibold">
            {title}
          </h2>
          <IconButton label={t.close} onClick={onClose}>
            <X size={17} />
          </IconButton>
        </header>
        {children ? <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-4 text-[14px]">{children}</div> : null}
        {actions ? (
          <footer className="flex shrink-0 flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
            {actions}
          </footer>
        ) : null}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** What the action does, in a word, such as “Delete”. */
  action: string;
  isDanger?: boolean;
  onConfirm: () => unknown;
  onClose: () => void;
  /** Takes the admin token, if the server asks for it. */
  onToken?: (token: string) => void;
  children?: ReactNode;
}

/** Asks before something that cannot be undone; a failure is shown and the dialog stays. */
export function Confirm({ title, action, isDanger = false, onConfirm, onClose, onToken, children }: ConfirmProps) {
  const t = useText();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [isTokenGiven, setTokenGiven] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const give = (token: string) => {
    onToken?.(token);
    setTokenGiven(true);
    void confirm();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button look="plain" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button look={isDanger ? "danger" : "primary"} disabled={isBusy} onClick={() => void confirm()}>
            {isBusy ? <Spinner /> : null} {action}
          </Button>
        </>
      }
    >
      {children || error ? (
        <>
          {children}
          {error && onToken !== undefined && isRefused(error) ? (
            <TokenField isWrong={isTokenGiven} isBusy={isBusy} action={action} onGiven={give} />
          ) : error ? (
            <ErrorLine error={error} />
          ) : null}
        </>
      ) : null}
    </Dialog>
  );
}
