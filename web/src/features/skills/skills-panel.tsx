import type { ReactNode } from "react";
import { useText } from "@/text/text";
import { listSkills } from "@/transport/catalog";
import { Load } from "@/ui/load";
import { FaultRow, PanelBody, Row } from "@/ui/panel";

interface SkillsPanelProps {
  onOpen: (name: string) => void;
  /** What can be done here. */
  actions?: ReactNode;
}

export function SkillsPanel({ onOpen, actions }: SkillsPanelProps) {
  const t = useText();
  return (
    <Load load={listSkills}>
      {({ skills, errors }) => (
        <PanelBody hint={t.skillsHint} actions={actions}>
          <ul>
            {errors.map((fault) => (
              <FaultRow key={`${fault.name} ${fault.source}`} {...fault} onOpen={() => onOpen(fault.name)} />
            ))}
            {skills.map((skill) => (
              <Row
                key={skill.name}
                title={`/skill/${skill.name}`}
                detail={t.skillScopes[skill.scope ?? ""] ?? skill.scope}
                onOpen={() => onOpen(skill.name)}
              >
                {skill.description}
              </Row>
            ))}
          </ul>
          {skills.length + errors.length === 0 ? <p className="text-[13px] text-faint">{t.noSkills}</p> : null}
        </PanelBody>
      )}
    </Load>
  );
}
