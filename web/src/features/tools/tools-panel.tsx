import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { TryTool } from "@/features/tools/try-tool";
import type { ToolInfo } from "@/protocol/catalog";
import { useText } from "@/text/text";
import { callTool, listTools } from "@/transport/catalog";
import { Load } from "@/ui/load";
import { PanelBody } from "@/ui/panel";

export function ToolsPanel() {
  return <Load load={listTools}>{({ tools, generation }) => <ToolList tools={tools} generation={generation} />}</Load>;
}

function ToolList({ tools, generation }: { tools: ToolInfo[]; generation: number }) {
  const t = useText();
  const [query, setQuery] = useState("");
  const [openName, setOpenName] = useState<string | null>(null);
  const found = useMemo(() => {
    const wanted = query.toLowerCase();
    return tools.filter((tool) => `${tool.name} ${tool.title} ${tool.description}`.toLowerCase().includes(wanted));
  }, [tools, query]);
  return (
    <PanelBody hint={t.toolsHint(tools.length, generation)}>
      {tools.length > 6 ? (
        <input
          type="search"
          aria-label={t.searchTools}
          placeholder={t.searchTools}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          className="mb-2 h-9 w-full rounded-lg border border-line bg-surface px-3 text-[13px] focus:border-line-strong"
        />
      ) : null}
      <ul>
        {found.map((tool) => (
          <ToolRow
            key={tool.name}
            tool={tool}
            isOpen={tool.name === openName}
            onToggle={() => setOpenName(tool.name === openName ? null : tool.name)}
          />
        ))}
      </ul>
    </PanelBody>
  );
}

function ToolRow({ tool, isOpen, onToggle }: { tool: ToolInfo; isOpen: boolean; onToggle: () => void }) {
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
            <span className="min-w-0 flex-1 truncate text-[14px] font-medium">{tool.title}</span>
            <span className="shrink-0 text-[12px] text-faint">{tool.origin || tool.kind}</span>
          </span>
          <span className="line-clamp-2 text-[13px] text-soft">{tool.description}</span>
        </span>
        <ChevronRight
          size={14}
          aria-hidden="true"
          className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
      </button>
      {isOpen ? <TryTool tool={tool} call={callTool} /> : null}
    </li>
  );
}
