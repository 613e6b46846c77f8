import { Plain } from "@/features/tool-cards/plain";
import { readShellReport } from "@/features/tool-cards/shell";
import type { ToolPart } from "@/protocol/message";
import { record, text } from "@/protocol/shapes";
import { useText } from "@/text/text";

/** A command and its output as in a terminal; null if the output is not a report. */
export function shellDetails(part: ToolPart) {
  const command = text(record(part.input)["command"]);
  const report = part.state === "output-available" ? readShellReport(part.output) : null;
  return command === "" || report === null ? null : <ShellDetails command={command} report={report} />;
}

type Report = NonNullable<ReturnType<typeof readShellReport>>;

function ShellDetails({ command, report }: { command: string; report: Report }) {
  const t = useText();
  const hasFailed = report.exitCode !== 0;
  return (
    <div className="space-y-2">
      <div className="flex items-baseline gap-3 font-mono text-[12.5px]">
        <p className="min-w-0 flex-1 break-words whitespace-pre-wrap">
          <span className="text-faint select-none">$ </span>
          {command}
        </p>
        <span className={`shrink-0 text-[12px] ${hasFailed ? "text-danger" : "text-faint"}`}>
          {report.exitCode === null ? t.endedByLimit : t.exitCode(report.exitCode)}
        </span>
      </div>
      {report.stdout === "" && report.stderr === "" ? <p className="text-[13px] text-faint">{t.noOutput}</p> : null}
      {report.stdout === "" ? null : <Plain text={report.stdout} />}
      {report.stderr === "" ? null : <Plain text={report.stderr} isError />}
      {report.notes.map((note) => (
        <p key={note} className="font-mono text-[12px] text-faint">
          {note}
        </p>
      ))}
    </div>
  );
}
