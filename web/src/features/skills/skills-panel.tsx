import { useText } from "@/text/text";
import { listSkills } from "@/transport/catalog";
import { Load } from "@/ui/load";
import { FaultRow, PanelBody, Row } from "@/ui/panel";

export function SkillsPanel() {
  const t = useText();
  return (
    <Load load={listSkills}>
      {({ skills, errors }) => (
        <PanelBody hint={t.skillsHint}>
          <ul>
            {errors.map((fault) => (
              <FaultRow key={`${fault.name} ${fault.source}`} {...fault} />
            ))}
            {skills.map((skill) => (
              <Row key={skill.name} title={`/skill/${skill.name}`} detail={skill.scope}>
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
