import { FastForward, Map as Plan, Shield, ShieldOff } from "lucide-react";
import type { ReactNode } from "react";
import type { Mode } from "@/protocol/mode";
import { useText } from "@/text/text";
import { Picker } from "@/ui/picker";

const ICONS: Record<Mode, ReactNode> = {
  plan: <Plan size={15} className="shrink-0" aria-hidden="true" />,
  default: <Shield size={15} className="shrink-0" aria-hidden="true" />,
  auto: <FastForward size={15} className="shrink-0" aria-hidden="true" />,
  yolo: <ShieldOff size={15} className="shrink-0 text-warn" aria-hidden="true" />,
};

interface ModePickerProps {
  /** The modes that the server permits, the strictest first. */
  modes: readonly Mode[];
  /** The mode of this chat. */
  chosen: Mode;
  /** Whether an answer is in progress: a change then applies to the next one. */
  isBusy: boolean;
  onChoose: (mode: Mode) => void;
}

/** Chooses how freely the agent of this chat may act. */
export function ModePicker({ modes, chosen, isBusy, onChoose }: ModePickerProps) {
  const t = useText();
  if (modes.length < 2) return null;
  const choices = modes.map((mode) => ({ value: mode, name: t.modes[mode], detail: t.modeHints[mode] }));
  return (
    <Picker
      label={isBusy ? t.modeForNext : t.mode}
      icon={ICONS[chosen]}
      shown={t.modes[chosen]}
      choices={choices}
      chosen={chosen}
      onChoose={(mode) => mode !== null && onChoose(mode as Mode)}
    />
  );
}
