import type { Preview } from "@/protocol/preview";
import { useText } from "@/text/text";
import { showLinesToApprove, showToApprove } from "@/text/visible";
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
          <Diff text={preview.diff} path={showToApprove(preview.path)} limit={24} />
        </div>
      );
    case "command":
      return (
        <div className="space-y-1.5">
          <ScrollBlock className="max-h-60 text-[12.5px] break-words whitespace-pre-wrap">
            <span aria-hidden="true" className="text-faint select-none">
              ${" "}
            </span>
            {showToApprove(preview.command)}
          </ScrollBlock>
          <p className="text-[13px] text-soft">
            {preview.folder === "." || preview.folder === ""
              ? t.inWorkspace
              : t.inFolder(showToApprove(preview.folder))}
          </p>
        </div>
      );
    case "request":
      return (
        <ScrollBlock className="max-h-40 text-[12.5px] break-all whitespace-pre-wrap">
          <span className="font-semibold">{showToApprove(preview.method)}</span> {showToApprove(preview.url)}
        </ScrollBlock>
      );
    case "text":
      return <p className="text-[13.5px] break-words whitespace-pre-wrap">{showLinesToApprove(preview.text)}</p>;
  }
}
