import { RefreshCw } from "lucide-react";
import { useState } from "react";
import type { ExtensionReport, ToolInfo } from "@/protocol/catalog";
import { useText } from "@/text/text";
import { listExtensions, listTools, reloadExtensions } from "@/transport/catalog";
import { Button } from "@/ui/button";
import { Load } from "@/ui/load";
import { FaultRow, PanelBody, Row } from "@/ui/panel";
import { Spinner } from "@/ui/spinner";

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

function Report({ report, tools, onReloaded }: ReportProps) {
  const t = useText();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const reload = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await reloadExtensions();
      await onReloaded();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const button = (
    <Button onClick={() => void reload()} disabled={isBusy}>
      {isBusy ? <Spinner /> : <RefreshCw size={13} aria-hidden="true" />} {t.reload}
    </Button>
  );
  const hint = report.isWatching ? t.extensionsWatched(report.version) : t.extensionsHint(report.version);
  return (
    <PanelBody hint={hint} actions={button}>
      {problem ? (
        <p role="alert" className="pb-2 text-[13px] text-danger">
          {problem}
        </p>
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
