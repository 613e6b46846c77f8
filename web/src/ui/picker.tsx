import { Check, ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import { Menu, MenuItem } from "@/ui/menu";

export interface Choice {
  /** Null for the default. */
  value: string | null;
  name: string;
  detail?: string;
}

interface PickerProps {
  /** What is chosen here, for screen readers. */
  label: string;
  icon?: ReactNode;
  /** The current choice as text. */
  shown: string;
  choices: readonly Choice[];
  chosen: string | null;
  onChoose: (value: string | null) => void;
}

/** A choice of one out of several; with a single choice it is plain text. */
export function Picker({ label, icon, shown, choices, chosen, onChoose }: PickerProps) {
  const face = (
    <span className="flex min-w-0 items-center gap-1.5 text-[13px] text-soft">
      {icon}
      <span className="truncate">{shown}</span>
      {choices.length > 1 ? <ChevronDown size={14} className="shrink-0" aria-hidden="true" /> : null}
    </span>
  );
  if (choices.length < 2) return <span className="min-w-0 px-2">{face}</span>;
  return (
    <Menu label={`${label}: ${shown}`} face={face} placement="top-start">
      <div
        className={`max-h-80 overflow-y-auto ${choices.some((choice) => choice.detail) ? "w-[min(22rem,80vw)]" : ""}`}
      >
        {choices.map((choice) => (
          <MenuItem key={choice.value ?? ""} onSelect={() => onChoose(choice.value)}>
            <Check
              size={14}
              className={`shrink-0 self-start ${choice.value === chosen ? "mt-[3px] text-accent" : "invisible"}`}
              aria-hidden="true"
            />
            <span className="min-w-0 flex-1">
              {choice.name}
              {choice.detail ? (
                <span className="line-clamp-2 text-[12px] whitespace-normal text-faint">{choice.detail}</span>
              ) : null}
            </span>
          </MenuItem>
        ))}
      </div>
    </Menu>
  );
}
