import type { DayLimit } from "@/protocol/operation";
import { formatCost, formatCount } from "@/text/format";
import { useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";

/** How much of the limits of today is spent; nothing if no day is limited. */
export function Limits({ limits }: { limits: readonly DayLimit[] }) {
  const t = useText();
  const agentName = useAgentName();
  const shown = limits.flatMap((limit) =>
    (["cost", "calls"] as const).flatMap((kind) => {
      const part = limit[kind];
      return part === null ? [] : [{ limit, kind, spent: part.spent, most: part.limit }];
    }),
  );
  if (shown.length === 0) return null;
  return (
    <section aria-label={t.limitsToday} className="pb-6">
      <h3 className="text-[14px] font-semibold">{t.limitsToday}</h3>
      <p className="pb-2 text-[12.5px] text-faint">{t.limitsReset}</p>
      <ul className="grid gap-x-8 gap-y-3 @2xl:grid-cols-2">
        {shown.map(({ limit, kind, spent, most }) => {
          const format = kind === "cost" ? formatCost : formatCount;
          const name = t.limitName(nameOf(limit, t.allOwners, agentName), t.limitKinds[kind]);
          const isLow = spent >= 0.8 * most;
          return (
            <li key={`${limit.scope} ${limit.name} ${kind}`} className="text-[13px]">
              <div className="flex gap-3 pb-1">
                <span className="min-w-0 flex-1 truncate">{name}</span>
                <span className={`tabular-nums ${isLow ? "font-medium text-warn" : "text-soft"}`}>
                  {t.spentOf(format(spent), format(most))}
                </span>
              </div>
              <progress
                aria-label={name}
                max={Math.max(most, 0.000001)}
                value={Math.min(spent, most)}
                className={`block h-1.5 w-full overflow-hidden rounded-full [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:rounded-full ${isLow ? "[&::-moz-progress-bar]:bg-warn [&::-webkit-progress-value]:bg-warn" : "[&::-moz-progress-bar]:bg-accent [&::-webkit-progress-value]:bg-accent"}`}
              />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function nameOf({ scope, name }: DayLimit, service: string, agentName: (name: string) => string): string {
  if (scope === "service") return service;
  return scope === "agent" ? agentName(name) : name;
}
