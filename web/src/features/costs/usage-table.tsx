import { useMemo } from "react";
import type { UsageRow } from "@/protocol/operation";
import { formatCost, formatCount } from "@/text/format";
import { useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import { type Column, DataTable } from "@/ui/data-table";

interface UsageTableProps {
  title: string;
  rows: readonly UsageRow[];
  /** Whether the keys are names of agents. */
  isAgent?: boolean;
  onOpen: (key: string) => void;
}

/** The usage by model, agent or owner; opening a row lists its runs. */
export function UsageTable({ title, rows, isAgent = false, onOpen }: UsageTableProps) {
  const t = useText();
  const agentName = useAgentName();
  const columns = useMemo((): Column<UsageRow>[] => {
    const nameOf = ({ key }: UsageRow) => (key === "" ? t.noModel : isAgent ? agentName(key) : key);
    return [
      { key: "name", title, value: nameOf },
      {
        key: "cost",
        title: t.cost,
        align: "right",
        value: (row) => row.cost,
        draw: (row) =>
          row.cost === null ? <span className="text-faint">{t.priceUnknown}</span> : formatCost(row.cost),
      },
      {
        key: "input",
        title: t.inputTokens,
        value: (row) => row.inputTokens,
        draw: (row) => formatCount(row.inputTokens),
      },
      {
        key: "output",
        title: t.outputTokens,
        value: (row) => row.outputTokens,
        draw: (row) => formatCount(row.outputTokens),
      },
      { key: "runs", title: t.panelTitles.runs, value: (row) => row.runs },
    ];
  }, [t, title, isAgent, agentName]);
  if (rows.length === 0) return null;
  return (
    <section aria-label={title} className="pb-6">
      <DataTable
        label={title}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.key}
        limit={10}
        onOpen={(row) => onOpen(row.key)}
        isFramed={false}
      />
    </section>
  );
}
