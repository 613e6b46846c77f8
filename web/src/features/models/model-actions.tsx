import { useState } from "react";
import type { ModelInfo } from "@/protocol/model";
import type { ModelCheck } from "@/protocol/model-setup";
import { formatSeconds } from "@/text/format";
import { useText } from "@/text/text";
import { adminToken, keepAdminToken } from "@/transport/admin";
import { ServerError } from "@/transport/http";
import { checkModel, pullModel, stopPull } from "@/transport/models";
import { useAttempt } from "@/ui/attempt";
import { Button } from "@/ui/button";
import { ErrorLine } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";
import { TokenField } from "@/ui/token-field";

/** What an operator can do with a model: download it, or see whether it answers. */
export function ModelActions({ model, onChanged }: { model: ModelInfo; onChanged: () => Promise<void> }) {
  const t = useText();
  const { isBusy, error, run } = useAttempt();
  const [check, setCheck] = useState<ModelCheck | null>(null);
  const pull = () =>
    run(async () => {
      await pullModel(model.name);
      await onChanged();
    });
  const stop = () =>
    run(async () => {
      await stopPull();
      await onChanged();
    });
  const ask = () =>
    run(async () => {
      setCheck(null);
      setCheck(await checkModel(model.name));
    });
  const actions = {
    missing: { name: t.pullModel, work: pull },
    failed: { name: t.retry, work: pull },
    downloading: { name: t.stopDownload, work: stop },
    ready: { name: t.checkModel, work: ask },
  };
  const action = actions[model.state];
  return (
    <div className="space-y-2 pt-2">
      <div className="flex items-center gap-2">
        <Button
          aria-label={t.keyActionOf(action.name, model.name)}
          disabled={isBusy}
          onClick={() => void action.work()}
        >
          {action.name}
        </Button>
        {isBusy ? <Spinner /> : null}
      </div>
      {error === null ? null : isRefused(error) ? (
        <TokenField
          isWrong={adminToken() !== ""}
          action={t.continueWithToken}
          onGiven={(token) => {
            keepAdminToken(token);
            void action.work();
          }}
        />
      ) : (
        <ErrorLine error={error} />
      )}
      {check === null || model.state !== "ready" ? null : <Outcome check={check} />}
    </div>
  );
}

function isRefused(error: unknown): boolean {
  return error instanceof ServerError && error.status === 403;
}

function Outcome({ check }: { check: ModelCheck }) {
  const t = useText();
  return (
    <div role="status" className="break-words">
      {check.error === null ? (
        <p>
          <span className="text-faint">{t.checkAnswered(formatSeconds(check.seconds))}</span>{" "}
          <span className="text-ink">{check.answer}</span>
        </p>
      ) : (
        <>
          <p className="text-danger">{t.checkFailed}</p>
          <p className="whitespace-pre-line">{[check.error, check.hint].filter(Boolean).join("\n")}</p>
        </>
      )}
    </div>
  );
}
