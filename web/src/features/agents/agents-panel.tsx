import { useText } from "@/text/text";
import { listAgents } from "@/transport/catalog";
import { Load } from "@/ui/load";
import { FaultRow, PanelBody, Row } from "@/ui/panel";

export function AgentsPanel() {
  const t = useText();
  return (
    <Load load={listAgents}>
      {({ agents, errors }) => (
        <PanelBody hint={t.agentsHint}>
          <ul>
            {errors.map((fault) => (
              <FaultRow key={`${fault.name} ${fault.source}`} {...fault} />
            ))}
            {agents.map((agent) => (
              <Row
                key={agent.name}
                title={agent.name}
                detail={agent.model ?? (agent.title === agent.name ? null : agent.title)}
              >
                {agent.description}
                {agent.tools.length > 0 ? (
                  <span className="mt-0.5 block font-mono text-[12px] text-faint">
                    {agent.tools.map((tool) => (tool === "*" ? t.allTools : tool)).join(", ")}
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
