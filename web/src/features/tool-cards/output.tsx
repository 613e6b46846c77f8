import { useState } from "react";
import { outputView } from "@/features/tool-cards/tool-view";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";
import { ScrollBlock } from "@/ui/scroll-block";

const LIMIT = 40;

/** The output of a tool in a suitable form. */
export function Output({ output }: { output: unknown }) {
  const t = useText();
  const view = outputView(output);
  switch (view.shape) {
    case "none":
      return <p className="text-[13px] text-faint">{t.noOutput}</p>;
    case "text":
      return <Plain text={view.text} />;
    case "json":
      return <Plain text={typeof view.value === "object" ? JSON.stringify(view.value, null, 2) : String(view.value)} />;
    case "diff":
      return <Diff text={view.text} />;
    case "image":
      return <img src={view.address} alt={t.output} className="max-h-96 rounded-lg border border-line" />;
    case "table":
      return <Table columns={view.columns} rows={view.rows} />;
  }
}

export function Plain({ text, isError = false }: { text: string; isError?: boolean }) {
  return (
    <ScrollBlock className={`max-h-80 text-[12.5px] break-words whitespace-pre-wrap ${isError ? "text-danger" : ""}`}>
      {text}
    </ScrollBlock>
  );
}

function Diff({ text }: { text: string }) {
  const look = (line: string) => {
    if (line.startsWith("+") && !line.startsWith("+++")) return "bg-accent-soft text-accent";
    if (line.startsWith("-") && !line.startsWith("---")) return "bg-danger-soft text-danger";
    return line.startsWith("@@") ? "text-faint" : "";
  };
  return (
    <ScrollBlock className="max-h-80 text-[12.5px]">
      {text.split("\n").map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its position
        <div key={index} className={`-mx-1 px-1 ${look(line)}`}>
          {line || " "}
        </div>
      ))}
    </ScrollBlock>
  );
}

function Table({ columns, rows }: { columns: string[]; rows: unknown[][] }) {
  const t = useText();
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? rows : rows.slice(0, LIMIT);
  return (
    <div className="markdown">
      <div className="table-frame bg-surface">
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column}>{column}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position
              <tr key={index}>
                {columns.map((column, place) => (
                  <td key={column}>{cellText(row[place])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length ? (
        <Button look="plain" onClick={() => setWhole(true)}>
          {t.showMore(rows.length - shown.length)}
        </Button>
      ) : null}
    </div>
  );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
