import { Eye, EyeOff, RefreshCw } from "lucide-react";
import { useEffect, useState } from "react";
import { TokenField } from "@/features/extensions/token-field";
import type { ExtensionReport, ToolInfo } from "@/protocol/catalog";
import { useText } from "@/text/text";
import { listExtensions, listTools, reloadExtensions } from "@/transport/catalog";
import { ServerError } from "@/transport/http";
import { Button } from "@/ui/button";
import { Load } from "@/ui/load";
import { FaultRow, PanelBody, Row } from "@/ui/panel";
import { Spinner } from "@/ui/spinner";

/** Stored for this tab only: the token grants more than chatting. */
const TOKEN_KEY = "dovetail.admin-token";
const PAUSE = 2000;

export function ExtensionsPanel() {
  return (
    <Load load={loadReport}>
      {({ report, tools }, reload) => <Report report={report} tools={tools} onReloaded={reload} />}
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
  onReloaded: () => Promise<void>;
}

type Refusal = { state: "none" | "token-missing" | "token-wrong" } | { state: "failed"; message: string };

function Report({ report, tools, onReloaded }: ReportProps) {
  const t = useText();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>({ state: "none" });
  useFollowing(report.isWatching, onReloaded);
  const reload = async (token: string) => {
    setBusy(true);
    try {
      await reloadExtensions(token);
      sessionStorage.setItem(TOKEN_KEY, token);
      setRefusal({ state: "none" });
      await onReloaded();
    } catch (error) {
      setRefusal(refusalOf(error, token));
    } finally {
      setBusy(false);
    }
  };
  const button = (
    <Button onClick={() => void reload(sessionStorage.getItem(TOKEN_KEY) ?? "")} disabled={isBusy}>
      {isBusy ? <Spinner /> : <RefreshCw size={13} aria-hidden="true" />} {t.reload}
    </Button>
  );
  return (
    <PanelBody hint={t.extensionsHint(report.version)} actions={button}>
      <WatchState isWatching={report.isWatching} />
      {refusal.state === "failed" ? (
        <p role="alert" className="pb-2 text-[13px] text-danger">
          {refusal.message}
        </p>
      ) : null}
      {refusal.state === "token-missing" || refusal.state === "token-wrong" ? (
        <TokenField isWrong={refusal.state === "token-wrong"} isBusy={isBusy} onGiven={(token) => void reload(token)} />
      ) : null}
      <ul>
        {report.failed.map((fault) => (
          <FaultRow key={fault.name} {...fault} note={report.kept.includes(fault.name) ? t.keptVersion : null} />
        ))}
        {report.loaded.map((name) => {
          const own = tools.filter((tool) => tool.origin === `extension:${name}`);
          return (
            <Row key={name} title={name} detail={t.toolCount(own.length)}>
              {own.map((tool) => tool.title).join(", ")}
            </Row>
          );
        })}
      </ul>
      {report.loaded.length + report.failed.length === 0 ? (
        <p className="text-[13px] text-faint">{t.noExtensions}</p>
      ) : null}
    </PanelBody>
  );
}

/** Polls a server that watches its folders, because the report may change at any time. */
function useFollowing(isWatching: boolean, refresh: () => Promise<void>): void {
  useEffect(() => {
    if (!isWatching) return;
    const timer = setInterval(() => void refresh(), PAUSE);
    return () => clearInterval(timer);
  }, [isWatching, refresh]);
}

function refusalOf(error: unknown, token: string): Refusal {
  if (error instanceof ServerError && error.status === 403) {
    return { state: token === "" ? "token-missing" : "token-wrong" };
  }
  return { state: "failed", message: error instanceof Error ? error.message : String(error) };
}

function WatchState({ isWatching }: { isWatching: boolean }) {
  const t = useText();
  const Sign = isWatching ? Eye : EyeOff;
  return (
    <p className={`mb-1 flex items-center gap-2 text-[12.5px] ${isWatching ? "text-accent" : "text-faint"}`}>
      <Sign size={14} aria-hidden="true" /> {isWatching ? t.watching : t.notWatching}
    </p>
  );
}
