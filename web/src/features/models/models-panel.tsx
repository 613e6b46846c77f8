import { factsText } from "@/features/models/facts";
import { ModelActions } from "@/features/models/model-actions";
import type { ModelStore } from "@/features/models/model-store";
import { ProviderKeys } from "@/features/models/provider-keys";
import type { ModelInfo } from "@/protocol/model";
import { formatSize } from "@/text/format";
import { useText } from "@/text/text";
import { PanelBody, Row } from "@/ui/panel";
import { Progress } from "@/ui/progress";
import { useStore } from "@/ui/store";

/** The models, and the keys of providers; `isAtKeys` shows these at once. */
export function ModelsPanel({ store, isAtKeys }: { store: ModelStore; isAtKeys: boolean }) {
  const t = useText();
  const { models } = useStore(store);
  return (
    <PanelBody hint={t.modelsHint}>
      <ul>
        {models.map((model) => (
          <Row key={model.name} title={model.name} detail={stateText(model, t)} mark={<Dot model={model} />}>
            <Description lines={[model.title === model.name ? "" : model.title, factsText(t, model)]} />
            {model.error ? <p className="text-danger">{model.error}</p> : null}
            {model.progress ? (
              <div className="flex items-center gap-3 pt-1 tabular-nums">
                <Progress value={model.progress.done / Math.max(1, model.progress.total)} label={model.name} />
                <span className="shrink-0 text-[12px]">
                  {t.ofSize(formatSize(model.progress.done), formatSize(model.progress.total))}
                </span>
              </div>
            ) : null}
            <ModelActions model={model} onChanged={() => store.refresh()} />
          </Row>
        ))}
      </ul>
      <ProviderKeys key={String(isAtKeys)} isSought={isAtKeys} onChanged={() => void store.refresh()} />
    </PanelBody>
  );
}

function Description({ lines }: { lines: readonly string[] }) {
  return lines.map((line) => (line ? <p key={line}>{line}</p> : null));
}

function stateText(model: ModelInfo, t: ReturnType<typeof useText>): string {
  if (model.state === "ready" && model.active) return t.modelActive;
  const words = {
    ready: t.modelReady,
    downloading: t.modelArriving,
    missing: t.modelAbsent,
    failed: t.modelBroken,
  };
  return words[model.state];
}

function Dot({ model }: { model: ModelInfo }) {
  const looks = {
    ready: "bg-accent",
    downloading: "bg-accent animate-breathe",
    missing: "bg-line-strong",
    failed: "bg-danger",
  };
  return <span aria-hidden="true" className={`size-2 shrink-0 self-center rounded-full ${looks[model.state]}`} />;
}
