import { Plus } from "lucide-react";
import { useState } from "react";
import type { SourceKind } from "@/protocol/source";
import { useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { addSource } from "@/transport/sources";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { TextField } from "@/ui/field";
import { isRefused } from "@/ui/load";
import { ErrorLine } from "@/ui/notice";
import { TokenField } from "@/ui/token-field";

const BEGINNINGS: Record<SourceKind, (name: string) => string> = {
  agents: (name) => `---\nname: ${name}\ndescription: What it does, in a sentence.\n---\nYou are …\n`,
  skills: (name) => `---\nname: ${name}\ndescription: When to use it, in a sentence.\n---\nHow it is done …\n`,
  prompts: () => `input: Translate \${text} into English.\n`,
};

/** A button that creates an agent, a skill or a prompt in the workspace. */
export function NewSource({ kind, onCreated }: { kind: SourceKind; onCreated: (name: string) => void }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isTried, setTried] = useState(false);
  const create = async () => {
    await addSource(kind, name.trim(), BEGINNINGS[kind](name.trim())).then(() => onCreated(name.trim()), setError);
  };
  const give = (token: string) => {
    keepAdminToken(token);
    setTried(true);
    void create();
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Plus size={14} aria-hidden="true" /> {t.newSource[kind]}
      </Button>
      {isOpen ? (
        <Dialog title={t.newSource[kind]} onClose={() => setOpen(false)}>
          <form
            className="space-y-3"
            onSubmit={(event) => {
              event.preventDefault();
              if (name.trim() !== "") void create();
            }}
          >
            <TextField name={t.sourceName} hint={t.sourceNameHint} value={name} onChange={setName} />
            {error === null || isRefused(error) ? null : <ErrorLine error={error} />}
            <Button look="primary" type="submit" disabled={name.trim() === ""}>
              {t.create}
            </Button>
          </form>
          {isRefused(error) ? <TokenField isWrong={isTried} action={t.continueWithToken} onGiven={give} /> : null}
        </Dialog>
      ) : null}
    </>
  );
}
