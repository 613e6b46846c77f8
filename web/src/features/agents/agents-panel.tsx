import type { ReactNode } from "react";
import { readableName } from "@/protocol/shapes";
import { titleIn, useText } from "@/text/text";
import { listAgents } from "@/transport/catalog";
import { Load } from "@/ui/load";
import { FaultRow, PanelBody, Row } from "@/ui/panel";

interface AgentsPanelProps {
  onOpen: (name: string) => void;
  /** What can be done here. */
  actions?: ReactNode;
}

export function AgentsPanel({ onOpen, actions }: AgentsPanelProps) {
  const t = useText();
  return (
    <Load load={listAgents}>
      {({ agents, errors, notices }) => (
        <PanelBody hint={t.agentsHint} actions={actions}>
          {notices.map((notice) => (
            <p key={notice} className="mb-3 rounded-xl bg-warn-soft px-4 py-3 text-[13px]">
              {notice}
            </p>
          ))}
          <ul>
            {errors.map((fault) => (
              <FaultRow key={`${fault.name} ${fault.source}`} {...fault} onOpen={() => onOpen(fault.name)} />
            ))}
            {agents.map((agent) => (
              <Row
                key={agent.name}
                title={titleIn(t, agent.title)}
                detail={agent.model}
                onOpen={() => onOpen(agent.name)}
              >
                {agent.description}
                {agent.tools.length > 0 ? (
                  <span className="mt-0.5 block text-[12px] text-faint">
                    {agent.tools
                      .map((tool) => (tool === "*" ? t.allTools : titleIn(t, readableName(tool))))
                      .join(t.comma)}
                  </span>
                ) : null}
              </Row>
            ))}
          </ul>
        </PanelBody>
      )}
    </Load>
  );
}
