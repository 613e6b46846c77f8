import { Plus } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { RuleForm } from "@/features/policy/rule-form";
import { RuleList } from "@/features/policy/rule-list";
import type { AgentInfo, ToolInfo } from "@/protocol/catalog";
import type { Policy } from "@/protocol/policy";
import { useText } from "@/text/text";
import { listAgents, listTools } from "@/transport/catalog";
import { readPolicy } from "@/transport/policy";
import { Button } from "@/ui/button";
import { Load } from "@/ui/load";
import { PanelBody } from "@/ui/panel";

const Tester = lazy(async () => ({ default: (await import("@/features/policy/tester")).Tester }));
const PolicyFile = lazy(async () => ({ default: (await import("@/features/policy/policy-file")).PolicyFile }));
const Remembered = lazy(async () => ({ default: (await import("@/features/policy/remembered")).Remembered }));

const TABS = ["rules", "try", "file", "always"] as const;
type Tab = (typeof TABS)[number];

interface PolicyProps {
  /** Which part is shown. */
  argument: string | null;
  onTab: (tab: string) => void;
  onOpen: (sessionId: string) => void;
}

export interface PolicyData {
  policy: Policy;
  tools: ToolInfo[];
  agents: AgentInfo[];
}

/** The policy: its rules, a tester, its file, and what was always allowed. */
export function PolicyPanel({ argument, onTab, onOpen }: PolicyProps) {
  const tab = TABS.find((one) => one === argument) ?? "rules";
  return (
    <Load load={loadPolicy}>
      {(data, reload) => <Content data={data} tab={tab} onTab={onTab} onOpen={onOpen} onChanged={reload} />}
    </Load>
  );
}

async function loadPolicy(): Promise<PolicyData> {
  const [policy, { tools }, { agents }] = await Promise.all([readPolicy(), listTools(), listAgents()]);
  return { policy, tools, agents };
}

interface ContentProps extends Pick<PolicyProps, "onTab" | "onOpen"> {
  data: PolicyData;
  tab: Tab;
  onChanged: () => Promise<void>;
}

function Content({ data, tab, onTab, onOpen, onChanged }: ContentProps) {
  const t = useText();
  const [isAdding, setAdding] = useState(false);
  const button = (
    <Button className="shrink-0" onClick={() => setAdding(true)}>
      <Plus size={13} aria-hidden="true" /> {t.addRule}
    </Button>
  );
  return (
    <PanelBody hint={t.policyHint} actions={button}>
      <nav aria-label={t.panelTitles.policy} className="-mx-2 flex flex-wrap gap-1 pb-4">
        {TABS.map((one) => (
          <button
            key={one}
            type="button"
            aria-current={one === tab ? "page" : undefined}
            onClick={() => onTab(one)}
            className="h-8 rounded-lg px-2.5 text-[13px] text-soft hover:bg-raised hover:text-ink aria-[current=page]:bg-raised aria-[current=page]:font-medium aria-[current=page]:text-ink"
          >
            {t.policyTabs[one]}
          </button>
        ))}
      </nav>
      <Suspense fallback={null}>
        {tab === "rules" ? <RuleList policy={data.policy} onFile={() => onTab("file")} onChanged={onChanged} /> : null}
        {tab === "try" ? <Tester data={data} /> : null}
        {tab === "file" ? <PolicyFile onSaved={onChanged} /> : null}
        {tab === "always" ? <Remembered onChanged={onChanged} onOpen={onOpen} tools={data.tools} /> : null}
      </Suspense>
      {isAdding ? <RuleForm data={data} onClose={() => setAdding(false)} onAdded={onChanged} /> : null}
    </PanelBody>
  );
}
