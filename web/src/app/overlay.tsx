import { useCallback } from "react";
import { makeCommands, type PageActions, searchChats } from "@/app/commands";
import { KeyHelp } from "@/app/key-help";
import type { Services } from "@/app/services";
import { Palette } from "@/features/palette/palette";
import { useText } from "@/text/text";

export type OverlayName = "palette" | "help";

interface OverlayProps {
  shown: OverlayName;
  services: Services;
  actions: PageActions;
  onClose: () => void;
}

/** What a key brings up above the page. */
export function Overlay({ shown, services, actions, onClose }: OverlayProps) {
  const t = useText();
  const search = useCallback((query: string) => searchChats(query, actions, t), [actions, t]);
  if (shown === "help") return <KeyHelp onClose={onClose} />;
  return <Palette commands={makeCommands(services, actions, t)} search={search} onClose={onClose} />;
}
