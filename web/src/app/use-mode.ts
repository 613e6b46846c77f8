import { useEffect, useState } from "react";
import { useChatOptions } from "@/features/chat/use-chat";
import { isMode, type Mode, type Modes } from "@/protocol/mode";
import { useText } from "@/text/text";
import { listModes } from "@/transport/policy";

interface ChatMode {
  /** The modes that a chat may choose; none until they are loaded. */
  permitted: readonly Mode[];
  /** The mode of this chat. */
  mode: Mode;
  /** Its name, if the chat has chosen it; otherwise empty. */
  name: string;
  /** What to store for a mode: null for the server's own. */
  toOption: (mode: Mode) => Mode | null;
}

/** How freely the agent of this chat may act, and what else it could be. */
export function useMode(): ChatMode {
  const t = useText();
  const choice = useChatOptions();
  const [modes, setModes] = useState<Modes>({ standard: "default", permitted: [] });
  useEffect(() => void listModes().then(setModes, () => undefined), []);
  const mode = isMode(choice.mode) ? choice.mode : modes.standard;
  return {
    permitted: modes.permitted,
    mode,
    name: mode === modes.standard ? "" : t.modes[mode],
    toOption: (chosen) => (chosen === modes.standard ? null : chosen),
  };
}
