import { activeModel } from "@/features/models/model-store";
import type { ModelInfo } from "@/protocol/model";
import { useText } from "@/text/text";
import { Picker } from "@/ui/picker";

interface ModelPickerProps {
  models: readonly ModelInfo[];
  /** The chosen name, or null for the server's default. */
  chosen: string | null;
  onChoose: (name: string | null) => void;
}

export function ModelPicker({ models, chosen, onChoose }: ModelPickerProps) {
  const t = useText();
  const ready = models.filter((model) => model.state === "ready");
  const active = activeModel(models);
  const isThere = ready.some((model) => model.name === chosen);
  const named = ready.map((model) => ({ value: model.name, name: model.name }));
  const automatic = { value: null, name: t.defaultModel, detail: active?.name ?? "" };
  return (
    <Picker
      label={t.model}
      shown={chosen ?? active?.name ?? t.noModel}
      choices={ready.length < 2 ? named : [automatic, ...named]}
      chosen={isThere ? chosen : null}
      onChoose={onChoose}
    />
  );
}
