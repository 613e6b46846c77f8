import { useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { readPolicyFile, writePolicyFile } from "@/transport/policy";
import { FileEditor } from "@/ui/file-editor";
import { Load } from "@/ui/load";

const EXAMPLE = '[[rule]]\naction = "deny"\ntool = "delete_file"';

/** The policy file as text; it is checked before it is written. */
export function PolicyFile({ onSaved }: { onSaved: () => Promise<void> }) {
  const t = useText();
  return (
    <Load load={readPolicyFile} onToken={keepAdminToken}>
      {(file) => (
        <div className="max-w-180">
          <FileEditor
            first={file}
            read={readPolicyFile}
            write={writePolicyFile}
            onSaved={onSaved}
            hint={t.policyFileHint}
            placeholder={EXAMPLE}
          />
        </div>
      )}
    </Load>
  );
}
