import { X } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { navigate } from "@/app/route";
import type { Services } from "@/app/services";
import { PanelView } from "@/features/browser-tools/panel-view";
import { useText } from "@/text/text";
import { listAgents, listExtensions, listSkills, listTools } from "@/transport/catalog";
import { ServerError } from "@/transport/http";
import { listSchedules } from "@/transport/schedules";
import { IconButton } from "@/ui/button";
import { ErrorBoundary } from "@/ui/error-boundary";
import { Notice } from "@/ui/notice";
import { useStore } from "@/ui/store";

const ToolsPanel = lazy(() => import("@/features/tools/tools-panel").then((it) => ({ default: it.ToolsPanel })));
const ExtensionsPanel = lazy(() =>
  import("@/features/extensions/extensions-panel").then((it) => ({ default: it.ExtensionsPanel })),
);
const AgentsPanel = lazy(() => import("@/features/agents/agents-panel").then((it) => ({ default: it.AgentsPanel })));
const SkillsPanel = lazy(() => import("@/features/skills/skills-panel").then((it) => ({ default: it.SkillsPanel })));
const SchedulesPanel = lazy(() =>
  import("@/features/schedules/schedules-panel").then((it) => ({ default: it.SchedulesPanel })),
);
const ModelsPanel = lazy(() => import("@/features/models/models-panel").then((it) => ({ default: it.ModelsPanel })));
const InspectorPanel = lazy(() =>
  import("@/features/inspector/inspector-panel").then((it) => ({ default: it.InspectorPanel })),
);

export const PANELS = ["pages", "tools", "extensions", "agents", "skills", "schedules", "models", "run"] as const;
export type PanelName = (typeof PANELS)[number];

/** Panels whose route an older server may not have. */
const ROUTES: Partial<Record<PanelName, () => Promise<unknown>>> = {
  tools: listTools,
  extensions: listExtensions,
  agents: listAgents,
  skills: listSkills,
  schedules: listSchedules,
};

interface WorkbenchProps {
  services: Services;
  panel: PanelName;
  runId: string | null;
  onPanel: (panel: PanelName) => void;
  onClose: () => void;
}

/** The panels next to the chat: opened pages, the catalog, and the inspector. */
export function Workbench({ services, panel, runId, onPanel, onClose }: WorkbenchProps) {
  const t = useText();
  const { items } = useStore(services.stack);
  const missing = useMissingPanels();
  const shown = PANELS.filter((name) => !missing.has(name) && (name !== "pages" || items.length > 0));
  const active = shown.includes(panel) ? panel : "models";
  const open = (sessionId: string) => {
    navigate(sessionId);
    // There the workbench covers the chat.
    if (matchMedia("(width < 64rem)").matches) onClose();
  };
  return (
    <aside
      aria-label={t.workbench}
      className="flex min-w-0 flex-col border-l border-line bg-page max-lg:fixed max-lg:inset-0 max-lg:z-40 lg:w-[min(34rem,42vw)] lg:shrink-0"
    >
      <header className="flex h-14 shrink-0 items-center gap-1 pr-3 pl-3">
        <div
          role="tablist"
          aria-label={t.workbench}
          className="flex min-w-0 flex-1 items-center gap-0.5 overflow-x-auto"
        >
          {shown.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={name === active}
              aria-controls="workbench-panel"
              ref={name === active ? bringIntoSight : null}
              onClick={() => onPanel(name)}
              className="shrink-0 rounded-lg px-2.5 max-sm:px-1.5 py-1 text-[13px] text-soft hover:text-ink aria-selected:bg-raised aria-selected:font-medium aria-selected:text-ink"
            >
              {t[name]}
            </button>
          ))}
        </div>
        <IconButton label={t.closeWorkbench} onClick={onClose}>
          <X size={17} />
        </IconButton>
      </header>
      <div
        id="workbench-panel"
        role="tabpanel"
        aria-labelledby={`tab-${active}`}
        className="flex min-h-0 flex-1 flex-col"
      >
        <ErrorBoundary subject={active} fallback={<Notice title={t.undrawablePart} />}>
          <Suspense fallback={null}>
            <PanelContent name={active} services={services} runId={runId} onOpen={open} />
          </Suspense>
        </ErrorBoundary>
      </div>
    </aside>
  );
}

/** Scrolls to the tab: on a phone the tabs are wider than the page. */
function bringIntoSight(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

interface PanelContentProps {
  name: PanelName;
  services: Services;
  runId: string | null;
  onOpen: (sessionId: string) => void;
}

function PanelContent({ name, services, runId, onOpen }: PanelContentProps) {
  switch (name) {
    case "pages":
      return <PanelView stack={services.stack} />;
    case "tools":
      return <ToolsPanel />;
    case "extensions":
      return <ExtensionsPanel />;
    case "agents":
      return <AgentsPanel />;
    case "skills":
      return <SkillsPanel />;
    case "schedules":
      return <SchedulesPanel onOpen={onOpen} onStarted={() => void services.sessions.refresh()} />;
    case "models":
      return <ModelsPanel store={services.models} />;
    case "run":
      return <InspectorPanel runId={runId} />;
  }
}

function useMissingPanels(): ReadonlySet<PanelName> {
  const [missing, setMissing] = useState<ReadonlySet<PanelName>>(new Set());
  useEffect(() => {
    for (const [name, load] of Object.entries(ROUTES)) {
      load().catch((error: unknown) => {
        if (error instanceof ServerError && error.status === 404) {
          setMissing((before) => new Set([...before, name as PanelName]));
        }
      });
    }
  }, []);
  return missing;
}
