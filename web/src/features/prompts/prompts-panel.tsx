import type { ReactNode } from "react";
import { useText } from "@/text/text";
import { listPrompts } from "@/transport/prompts";
import { Load } from "@/ui/load";
import { FaultRow, PanelBody, Row } from "@/ui/panel";

interface PromptsPanelProps {
  onOpen: (name: string) => void;
  /** What can be done here. */
  actions?: ReactNode;
}

/** The prompts that can be inserted into a message. */
export function PromptsPanel({ onOpen, actions }: PromptsPanelProps) {
  const t = useText();
  return (
    <Load load={listPrompts}>
      {({ prompts, errors }) => (
        <PanelBody hint={t.promptsHint} actions={actions}>
          <ul>
            {errors.map((fault) => (
              <FaultRow key={`${fault.name} ${fault.source}`} {...fault} onOpen={() => onOpen(fault.name)} />
            ))}
            {prompts.map((prompt) => (
              <Row key={prompt.name} title={prompt.title} detail={prompt.name} onOpen={() => onOpen(prompt.name)}>
                {prompt.description}
                {prompt.variables.length > 0 ? (
                  <span className="mt-0.5 block text-[12px] text-faint">
                    {t.promptVariables(prompt.variables.map((variable) => variable.name).join(t.comma))}
                  </span>
                ) : null}
              </Row>
            ))}
          </ul>
          {prompts.length + errors.length === 0 ? <p className="text-[13px] text-faint">{t.noPrompts}</p> : null}
        </PanelBody>
      )}
    </Load>
  );
}
