import { ArrowLeft, MessageSquarePlus, Trash2 } from "lucide-react";
import { type ReactNode, useCallback, useState } from "react";
import type { Source, SourceKind } from "@/protocol/source";
import { useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { deleteSource, readSource, writeSource } from "@/transport/sources";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { FileEditor } from "@/ui/file-editor";
import { Load } from "@/ui/load";
import { PanelBody } from "@/ui/panel";

interface SourcePageProps {
  kind: SourceKind;
  name: string;
  onBack: () => void;
  /** Starts a chat with it. */
  onUse?: (() => void) | undefined;
}

/** The text of an agent, a skill or a prompt, which can be changed while the server runs. */
export function SourcePage({ kind, name, onBack, onUse }: SourcePageProps) {
  const t = useText();
  const load = useCallback(() => readSource(kind, name), [kind, name]);
  return (
    <PanelBody
      hint={t.sourceHints[kind]}
      actions={
        <Button look="plain" onClick={onBack}>
          <ArrowLeft size={14} aria-hidden="true" /> {t.backToList}
        </Button>
      }
    >
      <Load key={`${kind}/${name}`} load={load} onToken={keepAdminToken}>
        {(source) => (
          <Editor kind={kind} name={name} source={source} read={load} onBack={onBack}>
            {onUse === undefined ? null : (
              <Button onClick={onUse}>
                <MessageSquarePlus size={14} aria-hidden="true" /> {t.startChatWith}
              </Button>
            )}
          </Editor>
        )}
      </Load>
    </PanelBody>
  );
}

interface EditorProps {
  kind: SourceKind;
  name: string;
  source: Source;
  read: () => Promise<Source>;
  onBack: () => void;
  children: ReactNode;
}

function Editor({ kind, name, source: first, read, onBack, children }: EditorProps) {
  const t = useText();
  const [source, setSource] = useState(first);
  const [isRemoving, setRemoving] = useState(false);
  return (
    <div className="max-w-200">
      <h2 className="mb-3 text-[17px] font-semibold">{name}</h2>
      <FileEditor
        first={first}
        read={read}
        write={(text, version) => writeSource(kind, name, text, version)}
        onSaved={setSource}
        hint={source.isOwn ? t.ownSourceHint : t.shippedSourceHint}
      >
        {children}
        {source.isOwn ? (
          <Button look="danger" onClick={() => setRemoving(true)}>
            <Trash2 size={14} aria-hidden="true" /> {t.remove}
          </Button>
        ) : null}
      </FileEditor>
      {isRemoving ? (
        <Confirm
          title={t.removeQuestion(name)}
          action={t.remove}
          isDanger
          onConfirm={() => deleteSource(kind, name).then(onBack)}
          onClose={() => setRemoving(false)}
        >
          {t.removeSourceHint(source.path)}
        </Confirm>
      ) : null}
    </div>
  );
}
