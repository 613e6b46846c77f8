import type { ComponentType, ReactNode } from "react";
import type { PanelProps } from "@/app/panels";
import { openRoom } from "@/app/route";
import { NewSource } from "@/features/sources/new-source";
import { SourcePage } from "@/features/sources/source-page";
import type { SourceKind } from "@/protocol/source";

interface ListProps {
  onOpen: (name: string) => void;
  actions?: ReactNode;
}

/** A panel that lists agents, skills or prompts, and edits the text of the one in the address. */
export function makeSourcePanel(kind: SourceKind, List: ComponentType<ListProps>): ComponentType<PanelProps> {
  const open = (name: string) => openRoom(kind, name);
  return function SourcePanel({ argument, onChat }) {
    if (argument === null) return <List onOpen={open} actions={<NewSource kind={kind} onCreated={open} />} />;
    return (
      <SourcePage
        kind={kind}
        name={argument}
        onBack={() => openRoom(kind)}
        onUse={kind === "agents" ? () => onChat(argument) : undefined}
      />
    );
  };
}
