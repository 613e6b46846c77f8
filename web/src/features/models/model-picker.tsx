import { Check, ChevronDown } from "lucide-react";
import { activeModel } from "@/features/models/model-store";
import type { ModelInfo } from "@/protocol/model";
import { useText } from "@/text/text";
import { Menu, MenuItem } from "@/ui/menu";

interface ModelPickerProps {
  models: readonly ModelInfo[];
  /** The chosen name, or null for the server's choice. */
  chosen: string | null;
  onChoose: (name: string | null) => void;
}

export function ModelPicker({ models, chosen, onChoose }: ModelPickerProps) {
  const t = useText();
  const ready = models.filter((model) => model.state === "ready");
  const active = activeModel(models);
  const isThere = ready.some((model) => model.name === chosen);
  const shown = isThere ? chosen : active?.name;
  const face = (
    <span className="flex min-w-0 items-center gap-1 text-[13px] text-soft">
      <span className="truncate">{shown ?? t.noModel}</span>
      {ready.length > 1 ? <ChevronDown size={14} className="shrink-0" aria-hidden="true" /> : null}
    </span>
  );
  if (ready.length < 2) return <span className="min-w-0 px-2">{face}</span>;
  return (
    <Menu label={`${t.model}: ${shown}`} face={face} placement="top-start">
      <MenuItem onSelect={() => onChoose(null)}>
        <Row isChosen={!isThere} name={t.defaultModel} detail={active?.name ?? ""} />
      </MenuItem>
      {ready.map((model) => (
        <MenuItem key={model.name} onSelect={() => onChoose(model.name)}>
          <Row isChosen={isThere && model.name === chosen} name={model.name} detail="" />
        </MenuItem>
      ))}
    </Menu>
  );
}

function Row({ isChosen, name, detail }: { isChosen: boolean; name: string; detail: string }) {
  return (
    <>
      <Check size={14} className={isChosen ? "text-accent" : "invisible"} aria-hidden="true" />
      <span className="flex-1">{name}</span>
      <span className="text-faint">{detail}</span>
    </>
  );
}
