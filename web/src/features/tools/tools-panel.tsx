import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import type { TrialBackend } from "@/features/tools/trial";
import { TryTool } from "@/features/tools/try-tool";
import type { ToolInfo } from "@/protocol/catalog";
import { type Text, titleIn, useText } from "@/text/text";
import { listTools } from "@/transport/catalog";
import { Load } from "@/ui/load";
import { PanelBody } from "@/ui/panel";

interface ToolsPanelProps {
  backend: TrialBackend;
  /** Subscribes to reloads of the folders. */
  follow: (onReload: () => void) => () => void;
}

export function ToolsPanel({ backend, follow }: ToolsPanelProps) {
  return (
    <Load load={listTools} follow={follow}>
      {({ tools }) => <ToolList tools={tools} backend={backend} />}
    </Load>
  );
}

function ToolList({ tools, backend }: { tools: ToolInfo[]; backend: TrialBackend }) {
  const t = useText();
  const [query, setQuery] = useState("");
  const [openName, setOpenName] = useState<string | null>(null);
  const found = useMemo(() => {
    const wanted = query.toLowerCase();
    return tools.filter((tool) =>
      `${tool.name} ${titleIn(t, tool.title)} ${tool.title} ${tool.description}`.toLowerCase().includes(wanted),
    );
  }, [tools, query, t]);
  return (
    <PanelBody hint={t.toolsHint(tools.length)}>
      {tools.length > 6 ? (
        <input
          type="search"
          aria-label={t.searchTools}
          placeholder={t.searchTools}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          className="mb-2 h-9 w-full rounded-lg border border-line bg-surface px-3 text-[13px] focus:border-line-strong [&::-webkit-search-cancel-button]:hidden"
        />
      ) : null}
      {found.length === 0 ? <p className="py-2 text-[13.5px] text-soft">{t.noToolFound}</p> : null}
      <ul>
        {found.map((tool) => (
          <ToolRow
            key={tool.name}
            tool={tool}
            backend={backend}
            isOpen={tool.name === openName}
            onToggle={() => setOpenName(tool.name === openName ? null : tool.name)}
          />
        ))}
      </ul>
    </PanelBody>
  );
}

interface ToolRowProps {
  tool: ToolInfo;
  backend: TrialBackend;
  isOpen: boolean;
  onToggle: () => void;
}

function ToolRow({ tool, backend, isOpen, onToggle }: ToolRowProps) {
  const t = useText();
  return (
    <li className="border-t border-line py-1 first:border-t-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex w-full items-center gap-2.5 rounded-lg py-2 text-left"
      >
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2.5">
            <span className="min-w-0 flex-1 truncate text-[14px] font-medium">{titleIn(t, tool.title)}</span>
            <span className="shrink-0 text-[12px] text-faint">{originText(tool, t)}</span>
          </span>
          <span className="line-clamp-2 text-[13px] text-soft">{tool.description}</span>
        </span>
        <ChevronRight
          size={14}
          aria-hidden="true"
          className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
      </button>
      {isOpen ? <TryTool tool={tool} backend={backend} /> : null}
    </li>
  );
}

/** “extension files”: where a tool comes from. */
function originText({ origin, kind }: ToolInfo, t: Text): string {
  const [place = "", name = ""] = (origin || kind).split(":", 2);
  return `${t.toolOrigins[place] ?? place} ${name}`.trim();
}
