import { ExternalLink } from "lucide-react";
import type { MouseEvent } from "react";
import type { OpenedPage } from "@/features/browser-tools/handlers";
import type { PanelStack } from "@/features/browser-tools/panel-stack";
import { useText } from "@/text/text";

interface OpenUrlLinkProps {
  page: OpenedPage;
  stack: PanelStack;
}

/** The page of a call as a link: it opens next to the chat, and in a tab of its own like any other link. */
export function OpenUrlLink({ page, stack }: OpenUrlLinkProps) {
  const t = useText();
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    stack.push(page.url, page.title);
  };
  return (
    <a
      href={page.url}
      target="_blank"
      rel="noopener noreferrer"
      title={t.openAgain}
      onClick={open}
      className="inline-flex max-w-full min-w-0 items-center gap-1.5 rounded text-[13px] text-accent hover:underline"
    >
      <ExternalLink size={13} className="shrink-0" aria-hidden="true" />
      <span className="truncate">{readable(page.url)}</span>
    </a>
  );
}

/** The address without what every address has. */
function readable(url: string): string {
  return url.replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "");
}
