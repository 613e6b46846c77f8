import { Download, TriangleAlert } from "lucide-react";
import { activeModel } from "@/features/models/model-store";
import type { ModelInfo } from "@/protocol/model";
import { formatSize } from "@/text/format";
import { useText } from "@/text/text";
import { Progress } from "@/ui/progress";
import { RemedyLink } from "@/ui/remedy";

/** A notice about the models: one is being downloaded, one failed, or none is available. */
export function ModelBanner({ models }: { models: readonly ModelInfo[] }) {
  const t = useText();
  const active = activeModel(models);
  const arriving = models.find((model) => model.state === "downloading");
  if (arriving !== undefined) return <Arriving model={arriving} active={active} />;
  const failed = models.find((model) => model.state === "failed");
  if (active?.isStandIn) {
    return <Line title={t.modelStandsIn(active.name)} hint={failed?.error ?? t.modelStandsInHint} />;
  }
  if (failed !== undefined) {
    return (
      <Line title={t.modelFailed(failed.name)} hint={failed.error ?? (active ? t.modelForNow(active.name) : "")} />
    );
  }
  return active === null ? <Line title={t.modelMissing} hint={t.modelMissingHint} /> : null;
}

function Arriving({ model, active }: { model: ModelInfo; active: ModelInfo | null }) {
  const t = useText();
  const { done, total } = model.progress ?? { done: 0, total: 0 };
  const share = total > 0 ? done / total : 0;
  const fallback = active === model ? null : active;
  const title = fallback ? t.modelDownloading(model.name) : t.modelProgress.download(Math.floor(100 * share));
  return (
    <div role="status" className="animate-rise px-4 pb-1.5 text-[13px]">
      <div className="flex items-center gap-2.5">
        <Download size={15} className="shrink-0 text-accent" aria-hidden="true" />
        <span className="min-w-0 flex-1 truncate">
          <span className="font-medium tabular-nums">{title}</span>
          <span className="text-faint max-sm:hidden">
            {" "}
            · {fallback ? t.modelForNow(fallback.name) : t.questionsWait}
          </span>
        </span>
        {total > 0 ? (
          <span className="shrink-0 text-soft tabular-nums">{t.ofSize(formatSize(done), formatSize(total))}</span>
        ) : null}
      </div>
      <div className="mt-1.5">
        <Progress value={share} label={t.modelDownloading(model.name)} />
      </div>
    </div>
  );
}

function Line({ title, hint }: { title: string; hint: string }) {
  return (
    <div role="status" className="flex flex-wrap gap-2.5 rounded-xl bg-warn-soft px-4 py-2.5 text-[13px]">
      <TriangleAlert size={15} className="mt-0.5 shrink-0 text-warn" aria-hidden="true" />
      <p className="min-w-0 flex-1 basis-60 break-words">
        <span className="font-medium">{title}</span> <span className="text-soft">{hint}</span>
      </p>
      <RemedyLink remedy="models" />
    </div>
  );
}
