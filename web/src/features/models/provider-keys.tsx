import { ChevronRight } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import type { KeyCheck, ProviderKey } from "@/protocol/model-setup";
import { type Text, useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { checkKey, deleteKey, listKeys, setKey } from "@/transport/models";
import { useAttempt } from "@/ui/attempt";
import { Button } from "@/ui/button";
import { TextField } from "@/ui/field";
import { Load } from "@/ui/load";
import { ErrorLine } from "@/ui/notice";
import { Row } from "@/ui/panel";
import { Spinner } from "@/ui/spinner";

/** The keys of providers: where they come from, and entering one. */
export function ProviderKeys({ isSought, onChanged }: { isSought: boolean; onChanged: () => void }) {
  const t = useText();
  const [isOpen, setOpen] = useState(isSought);
  const heading = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSought) heading.current?.focus();
  }, [isSought]);
  return (
    <section className="pt-6">
      <h3>
        <button
          ref={heading}
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="-mx-2 flex h-8 items-center gap-1.5 rounded-lg px-2 text-[14px] font-semibold hover:bg-raised"
        >
          <ChevronRight size={14} aria-hidden="true" className={isOpen ? "rotate-90" : ""} />
          {t.providerKeys}
        </button>
      </h3>
      {isOpen ? (
        <>
          <p className="pb-2 text-[13px] text-soft">{t.providerKeysHint}</p>
          <div className="-mx-4">
            <Load load={listKeys} onToken={keepAdminToken}>
              {(keys) => <Keys first={keys} onChanged={onChanged} />}
            </Load>
          </div>
        </>
      ) : null}
    </section>
  );
}

function Keys({ first, onChanged }: { first: ProviderKey[]; onChanged: () => void }) {
  const [keys, setKeys] = useState(first);
  const replace = (changed: ProviderKey) => {
    setKeys((known) => known.map((key) => (key.name === changed.name ? changed : key)));
    onChanged();
  };
  return (
    <ul className="px-4">
      {keys.map((key) => (
        <KeyRow key={key.name} of={key} onChanged={replace} />
      ))}
    </ul>
  );
}

function KeyRow({ of, onChanged }: { of: ProviderKey; onChanged: (key: ProviderKey) => void }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const [check, setCheck] = useState<KeyCheck | null>(null);
  const { isBusy, error, run } = useAttempt();
  const remove = () =>
    run(async () => {
      setCheck(null);
      onChanged(await deleteKey(of.name));
    });
  const ask = () =>
    run(async () => {
      setCheck(null);
      setCheck(await checkKey(of.name));
    });
  const action = of.source === "page" ? t.replaceKey : t.enterKey;
  return (
    <Row title={of.title} detail={sourceText(of, t)}>
      {isOpen ? (
        <KeyForm
          of={of}
          onClose={() => setOpen(false)}
          onKept={(key) => {
            setOpen(false);
            onChanged(key);
            void ask();
          }}
        />
      ) : (
        <div className="flex gap-3">
          <LinkButton label={t.keyActionOf(action, of.title)} onClick={() => setOpen(true)}>
            {action}
          </LinkButton>
          {of.source === "page" ? (
            <LinkButton label={t.keyActionOf(t.removeKey, of.title)} disabled={isBusy} onClick={() => void remove()}>
              {t.removeKey}
            </LinkButton>
          ) : null}
          {of.source === null ? null : (
            <LinkButton label={t.keyActionOf(t.checkKey, of.title)} disabled={isBusy} onClick={() => void ask()}>
              {t.checkKey}
            </LinkButton>
          )}
          {isBusy ? <Spinner /> : null}
        </div>
      )}
      {check === null ? null : <Outcome check={check} />}
      {error === null ? null : <ErrorLine error={error} />}
    </Row>
  );
}

function Outcome({ check: { state, models } }: { check: KeyCheck }) {
  const t = useText();
  return (
    <p role="status" className={state === "answers" ? "text-accent" : "text-danger"}>
      {state === "answers" ? t.keyAccepted(models) : t.keyStates[state]}
    </p>
  );
}

interface LinkButtonProps {
  label: string;
  disabled?: boolean;
  onClick: () => void;
  children: string;
}

function LinkButton({ label, ...rest }: LinkButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      className="-mx-1 rounded px-1 py-0.5 text-[13px] text-soft underline decoration-line-strong underline-offset-3 hover:text-ink disabled:opacity-40"
      {...rest}
    />
  );
}

function KeyForm({
  of,
  onClose,
  onKept,
}: {
  of: ProviderKey;
  onClose: () => void;
  onKept: (key: ProviderKey) => void;
}) {
  const t = useText();
  const [key, setKeyText] = useState("");
  const { isBusy, error, run } = useAttempt();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => onKept(await setKey(of.name, key)));
  };
  return (
    <form onSubmit={submit} className="max-w-120 space-y-2 pt-1">
      <TextField name={t.keyOf(of.title)} type="password" value={key} onChange={setKeyText} isCode />
      {error === null ? null : <ErrorLine error={error} />}
      <div className="flex gap-2">
        <Button type="submit" look="primary" disabled={isBusy || key.trim() === ""}>
          {t.save}
        </Button>
        <Button look="plain" onClick={onClose}>
          {t.cancel}
        </Button>
      </div>
    </form>
  );
}

function sourceText(key: ProviderKey, t: Text): string {
  if (key.source === "page") return key.ending === null ? t.keySet : t.keyOfPage(key.ending);
  if (key.source === "environment") return t.keyOfEnvironment(key.variable ?? "");
  if (key.source === "settings") return t.keyOfSettings;
  return key.isOptional ? t.keyOptional : t.keyMissing;
}
