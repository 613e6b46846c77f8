import { Bot } from "lucide-react";
import type { AgentInfo } from "@/protocol/catalog";
import { titleIn, useText } from "@/text/text";
import { Picker } from "@/ui/picker";

interface AgentPickerProps {
  agents: readonly AgentInfo[];
  /** The agent of this chat. */
  chosen: string;
  onChoose: (name: string) => void;
}

/** Chooses the agent of this chat; hidden if there is only one. */
export function AgentPicker({ agents, chosen, onChoose }: AgentPickerProps) {
  const t = useText();
  if (agents.length < 2) return null;
  return (
    <Picker
      label={t.agent}
      icon={<Bot size={15} className="shrink-0 max-sm:hidden" aria-hidden="true" />}
      shown={titleIn(t, agents.find((agent) => agent.name === chosen)?.title ?? chosen)}
      choices={agents.map((agent) => ({ value: agent.name, name: titleIn(t, agent.title), detail: agent.description }))}
      chosen={chosen}
      onChoose={(name) => name !== null && onChoose(name)}
    />
  );
}
