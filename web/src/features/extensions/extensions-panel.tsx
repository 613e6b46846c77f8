import { RefreshCw } from "lucide-react";
import { useState } from "react";
import type { ExtensionReport } from "@/protocol/catalog";
import { useText } from "@/text/text";
import { listExtensions, reloadExtensions } from "@/transport/catalog";
import { Button } from "@/ui/button";
import { Load } from "@/ui/load";
import { FaultRow, PanelBody, Row } from "@/ui/panel";
import { Spinner } from "@/ui/spinner";

export function ExtensionsPanel() {
  return <Load load={listExtensions}>{(report, reload) => <Report report={report} onReloaded={reload} />}</Load>;
}

function Report({ report, onReloaded }: { report: ExtensionReport; onReloaded: () => Promise<void> }) {
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
        {report.loaded.map((extension) => (
          <Row key={extension.name} title={extension.name} detail={t.toolCount(extension.tools.length)}>
            {extension.tools.join(", ")}
          </Row>
        ))}
      </ul>
      {report.loaded.length + report.failed.length === 0 ? (
        <p className="text-[13px] text-faint">{t.noExtensions}</p>
      ) : null}
    </PanelBody>
  );
}
