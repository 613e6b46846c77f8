import type { Preview } from "@/protocol/preview";
import { useText } from "@/text/text";
import { Diff } from "@/ui/diff";
import { ScrollBlock } from "@/ui/scroll-block";

/** What a call would do: the difference it makes, the command, the request, or a text. */
export function PreviewView({ preview }: { preview: Preview }) {
  const t = useText();
  switch (preview.kind) {
    case "diff":
      return (
        <div className="space-y-1.5">
          {preview.isNew ? <p className="text-[13px] text-soft">{t.newFile}</p> : null}
          <Diff text={preview.diff} path={preview.path} limit={24} />
        </div>
      );
    case "command":
      return (
        <div className="space-y-1.5">
          <ScrollBlock className="max-h-60 text-[12.5px] break-words whitespace-pre-wrap">
            <span aria-hidden="true" className="text-faint select-none">
              ${" "}
            </span>
            {preview.command}
          </ScrollBlock>
          <p className="text-[13px] text-soft">
            {preview.folder === "." || preview.folder === "" ? t.inWorkspace : t.inFolder(preview.folder)}
          </p>
        </div>
      );
    case "request":
      return (
        <ScrollBlock className="max-h-40 text-[12.5px] break-all whitespace-pre-wrap">
          <span className="font-semibold">{preview.method}</span> {preview.url}
        </ScrollBlock>
      );
    case "text":
      return <p className="text-[13.5px] break-words whitespace-pre-wrap">{preview.text}</p>;
  }
}
