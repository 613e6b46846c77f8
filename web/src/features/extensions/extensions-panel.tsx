import { Eye, EyeOff, RefreshCw } from "lucide-react";
import { useEffect, useState } from "react";
import { FolderList } from "@/features/extensions/folder-list";
import type { LookStore } from "@/features/extensions/look-store";
import type { ExtensionReport, ToolInfo } from "@/protocol/catalog";
import { useText } from "@/text/text";
import { adminToken, keepAdminToken } from "@/transport/admin";
import { listExtensions, listTools, reloadExtensions } from "@/transport/catalog";
import { ServerError } from "@/transport/http";
import { Button } from "@/ui/button";
import { Load } from "@/ui/load";
import { ErrorLine } from "@/ui/notice";
import { PanelBody } from "@/ui/panel";
import { Spinner } from "@/ui/spinner";
import { TokenField } from "@/ui/token-field";

interface ExtensionsPanelProps {
  looks: LookStore;
  /** Subscribes to reloads of the folders. */
  follow: (onReload: () => void) => () => void;
}

export function ExtensionsPanel({ looks, follow }: ExtensionsPanelProps) {
  return (
    <Load load={loadReport} follow={follow}>
      {({ report, tools }, reload) => <Report report={report} tools={tools} looks={looks} onReloaded={reload} />}
    </Load>
  );
}

async function loadReport(): Promise<{ report: ExtensionReport; tools: ToolInfo[] }> {
  const [report, { tools }] = await Promise.all([listExtensions(), listTools()]);
  return { report, tools };
}

interface ReportProps {
  report: ExtensionReport;
  tools: ToolInfo[];
  looks: LookStore;
  onReloaded: () => Promise<void>;
}

type Refusal = { state: "none" | "token-missing" | "token-wrong" } | { state: "failed"; error: unknown };

function Report({ report, tools, looks, onReloaded }: ReportProps) {
  const t = useText();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>({ state: "none" });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a reload may have brought other modules
  useEffect(() => void looks.refresh(), [looks, report.version]);
  const reload = async (token: string) => {
    setBusy(true);
    try {
      await reloadExtensions(token);
      keepAdminToken(token);
      setRefusal({ state: "none" });
      await onReloaded();
    } catch (error) {
      setRefusal(refusalOf(error, token));
    } finally {
      setBusy(false);
    }
  };
  const button = (
    <Button onClick={() => void reload(adminToken())} disabled={isBusy}>
      {isBusy ? <Spinner /> : <RefreshCw size={13} aria-hidden="true" />} {t.reload}
    </Button>
  );
  return (
    <PanelBody hint={t.extensionsHint} actions={button}>
      <WatchState isWatching={report.isWatching} loads={report.version} />
      {refusal.state === "failed" ? (
        <div className="pb-2">
          <ErrorLine error={refusal.error} />
        </div>
      ) : null}
      {refusal.state === "token-missing" || refusal.state === "token-wrong" ? (
        <TokenField
          isWrong={refusal.state === "token-wrong"}
          isBusy={isBusy}
          action={t.reload}
          onGiven={(token) => void reload(token)}
        />
      ) : null}
      <FolderList report={report} tools={tools} looks={looks} />
      {report.loaded.length + report.loading.length + report.failed.length === 0 ? (
        <p className="text-[13px] text-faint">{t.noExtensions}</p>
      ) : null}
    </PanelBody>
  );
}

function refusalOf(error: unknown, token: string): Refusal {
  if (error instanceof ServerError && error.status === 403) {
    return { state: token === "" ? "token-missing" : "token-wrong" };
  }
  return { state: "failed", error };
}

function WatchState({ isWatching, loads }: { isWatching: boolean; loads: number }) {
  const t = useText();
  const Sign = isWatching ? Eye : EyeOff;
  return (
    <p className={`mb-1 flex items-center gap-2 text-[12.5px] ${isWatching ? "text-accent" : "text-faint"}`}>
      <Sign size={14} aria-hidden="true" /> {isWatching ? t.watching : t.notWatching}
      <span className="ml-auto text-faint">{t.reloadCount(loads)}</span>
    </p>
  );
}
