import type { Look } from "@/features/extensions/look";
import type { LookStore } from "@/features/extensions/look-store";
import type { ExtensionReport, ToolInfo } from "@/protocol/catalog";
import { readableName } from "@/protocol/shapes";
import { titleIn, useText } from "@/text/text";
import { FaultRow, Row } from "@/ui/panel";
import { useStore } from "@/ui/store";

interface FolderListProps {
  report: ExtensionReport;
  tools: readonly ToolInfo[];
  looks: LookStore;
}

/** The folders: first what failed, on the server and in this page, then what each one brings. */
export function FolderList({ report, tools, looks: store }: FolderListProps) {
  const t = useText();
  const { looks, faults } = useStore(store);
  return (
    <>
      <ul>
        {report.failed.map((fault) => (
          <FaultRow key={fault.name} {...fault} note={report.kept.includes(fault.name) ? t.keptVersion : null} />
        ))}
        {faults.map(({ folder, file, message }) => (
          <FaultRow key={`${file} ${message}`} name={folder} message={message} source={file} note={t.lookFailed} />
        ))}
        {[...report.loaded, ...report.loading, ...report.kept].map((name) => (
          <FolderRow
            key={name}
            name={name}
            tools={tools}
            looks={looks.filter(({ folder }) => folder === name)}
            notices={report.notices.filter(({ folder }) => folder === name).map(({ text }) => text)}
          />
        ))}
      </ul>
      {report.excluded.length > 0 ? (
        <p className="border-t border-line py-3 text-[13px] text-faint">
          {t.excludedFolders(report.excluded.join(", "))}
        </p>
      ) : null}
    </>
  );
}

interface FolderRowProps {
  name: string;
  tools: readonly ToolInfo[];
  looks: readonly Look[];
  notices: readonly string[];
}

function FolderRow({ name, tools, looks, notices }: FolderRowProps) {
  const t = useText();
  const own = tools.filter((tool) => tool.origin === `extension:${name}`);
  const titles = (names: Iterable<string>) =>
    [...names]
      .map((each) => titleIn(t, tools.find((tool) => tool.name === each)?.title ?? readableName(each)))
      .join(", ");
  const cards = titles(looks.flatMap((look) => [...look.cards.keys()]));
  const handlers = titles(looks.flatMap((look) => [...look.browserTools.keys()]));
  return (
    <Row title={name} detail={t.toolCount(own.length)}>
      {own.map((tool) => titleIn(t, tool.title)).join(", ")}
      {cards === "" ? null : <p className="text-faint">{t.lookCards(cards)}</p>}
      {handlers === "" ? null : <p className="text-faint">{t.lookBrowserTools(handlers)}</p>}
      {notices.map((notice) => (
        <p key={notice} className="text-warn">
          {notice}
        </p>
      ))}
    </Row>
  );
}
