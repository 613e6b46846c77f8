import { ExternalLink } from "lucide-react";
import { normalizeUrl } from "@/features/browser-tools/handlers";
import type { PanelStack } from "@/features/browser-tools/panel-stack";
import type { ToolPart } from "@/protocol/message";
import { record, text } from "@/protocol/shapes";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";

/** Opens the page of a call again. */
export function OpenUrlAgain({ part, stack }: { part: ToolPart; stack: PanelStack }) {
  const t = useText();
  const { url: wanted, title } = record(part.input);
  const url = normalizeUrl(wanted);
  if (url === null) return null;
  return (
    <Button onClick={() => stack.push(url, text(title) || new URL(url).hostname)}>
      <ExternalLink size={14} aria-hidden="true" /> {t.openAgain}
    </Button>
  );
}
