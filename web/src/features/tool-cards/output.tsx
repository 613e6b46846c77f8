import { Download, ExternalLink, FileText } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { chartOfTable } from "@/features/tool-cards/chart-view";
import { JsonView } from "@/features/tool-cards/json-view";
import { type LinkView, type OutputView, outputView } from "@/features/tool-cards/output-view";
import { Plain } from "@/features/tool-cards/plain";
import type { Json } from "@/protocol/shapes";
import { formatSize } from "@/text/format";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { DataTable } from "@/ui/data-table";
import { Diff } from "@/ui/diff";
import { Markdown } from "@/ui/markdown/markdown";
import type { CellValue } from "@/ui/table-rows";

const Chart = lazy(async () => ({ default: (await import("@/ui/chart")).Chart }));

/** The output of a tool in a suitable form. */
export function Output({ output }: { output: unknown }) {
  return drawView(outputView(output));
}

function drawView(view: OutputView): ReactNode {
  switch (view.shape) {
    case "none":
      return <NoOutput />;
    case "text":
      return <Plain text={view.text} />;
    case "markdown":
      return (
        <div className="text-[14px]">
          <Markdown text={view.text} />
        </div>
      );
    case "json":
      return <JsonView value={view.value} />;
    case "diff":
      return <DiffOutput view={view} />;
    case "image":
      return <Picture address={view.address} name={view.name} />;
    case "table":
      return <TableOutput columns={view.columns} rows={view.rows} />;
    case "chart":
      return <ChartOutput view={view} />;
    case "file":
      return <FileOutput view={view} />;
    case "links":
      return <Links links={view.links} />;
  }
}

type Of<Shape extends OutputView["shape"]> = Extract<OutputView, { shape: Shape }>;

function NoOutput() {
  const t = useText();
  return <p className="text-[13px] text-faint">{t.noOutput}</p>;
}

function DiffOutput({ view }: { view: Of<"diff"> }) {
  return (
    <div className="space-y-2">
      {view.note === "" ? null : <p className="text-[13px] text-soft">{view.note}</p>}
      <Diff text={view.text} path={view.path} />
    </div>
  );
}

/** A picture; a click shows it in its full size. */
function Picture({ address, name }: { address: string; name: string }) {
  const t = useText();
  const [isLarge, setLarge] = useState(false);
  return (
    <button
      type="button"
      aria-expanded={isLarge}
      title={isLarge ? t.shrinkImage : t.enlargeImage}
      onClick={() => setLarge(!isLarge)}
      className="block max-w-full overflow-x-auto rounded-lg"
    >
      <img
        src={address}
        alt={name || t.output}
        className={`rounded-lg border border-line ${isLarge ? "max-w-none" : "max-h-80 max-w-full"}`}
      />
    </button>
  );
}

/** Records as a table, or as a chart if they have numbers. */
function TableOutput({ columns, rows }: { columns: string[]; rows: Json[] }) {
  const t = useText();
  const [isChart, setChart] = useState(false);
  const chart = chartOfTable(columns, rows);
  return (
    <div className="space-y-2">
      {isChart && chart !== null ? (
        <ChartOutput view={{ shape: "chart", chart }} />
      ) : (
        <DataTable
          label={t.output}
          rows={rows}
          limit={20}
          columns={columns.map((key) => ({ key, title: key, value: (row: Json) => cell(row[key]) }))}
        />
      )}
      {chart === null ? null : (
        <Button look="plain" className="-ml-2" onClick={() => setChart(!isChart)}>
          {isChart ? t.asTable : t.asChart}
        </Button>
      )}
    </div>
  );
}

function cell(value: unknown): CellValue {
  if (value === null || value === undefined) return null;
  return typeof value === "object" ? JSON.stringify(value) : (value as CellValue);
}

function ChartOutput({ view: { chart } }: { view: Of<"chart"> }) {
  const t = useText();
  return (
    <div>
      {chart.title === "" ? null : <p className="mb-2 text-[13px] font-medium">{chart.title}</p>}
      <Suspense fallback={<div className="h-45" />}>
        <Chart
          kind={chart.kind}
          label={chart.title || t.chart}
          labels={chart.labels}
          series={chart.series}
          isStacked={chart.isStacked}
        />
      </Suspense>
    </div>
  );
}

function FileOutput({ view }: { view: Of<"file"> }) {
  const t = useText();
  const { url, size, beginning } = view;
  return (
    <div className="space-y-2">
      {beginning === "" ? null : <Plain text={`${beginning}…`} />}
      <a
        href={url}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className="inline-flex max-w-full items-center gap-2.5 rounded-lg border border-line bg-surface px-3 py-2 text-[13px] hover:border-line-strong"
      >
        <FileText size={15} className="shrink-0 text-faint" aria-hidden="true" />
        <span className="min-w-0 truncate font-medium">{view.name || t.wholeOutput}</span>
        {size === null ? null : <span className="shrink-0 text-[12px] text-faint">{formatSize(size)}</span>}
        <Download size={14} className="shrink-0 text-faint" aria-hidden="true" />
      </a>
    </div>
  );
}

function Links({ links }: { links: LinkView[] }) {
  return (
    <ul className="space-y-1.5">
      {links.map((link, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a link is identified by its position
        <li key={index}>
          <a
            href={link.url}
            target="_blank"
            rel="noopener noreferrer nofollow"
            className="group/link block rounded-lg border border-line bg-surface px-3 py-2 hover:border-line-strong"
          >
            <span className="flex items-center gap-2 text-[13.5px]">
              <span className="min-w-0 truncate font-medium group-hover/link:underline">{link.title || link.url}</span>
              <span className="ml-auto shrink-0 text-[12px] text-faint">{hostOf(link.url)}</span>
              <ExternalLink size={13} className="shrink-0 text-faint" aria-hidden="true" />
            </span>
            {link.description === "" ? null : (
              <span className="mt-0.5 line-clamp-2 block text-[13px] text-soft">{link.description}</span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}

function hostOf(url: string): string {
  try {
    return new URL(url).host.replace(/^www\./, "");
  } catch {
    return "";
  }
}
