/**
 * The panels: what the workbench shows next to a chat, and the control room on a whole page. A new one is a folder in
 * `features/`, an entry here and a title in `text/`.
 */

import {
  Activity,
  Blocks,
  BookOpenText,
  Bot,
  CalendarClock,
  ChartColumn,
  Cpu,
  Globe,
  ListChecks,
  type LucideIcon,
  Plug,
  Server,
  Settings2,
  ShieldCheck,
  TextQuote,
  Wrench,
} from "lucide-react";
import { type ComponentType, lazy } from "react";
import type { Services } from "@/app/services";
import { useStore } from "@/ui/store";

export interface PanelProps {
  services: Services;
  /** What the address names after the panel, such as a run. */
  argument: string | null;
  /** The run to inspect. */
  runId: string | null;
  onOpen: (sessionId: string, messageId?: string) => void;
  onInspect: (runId: string) => void;
  /** Starts a chat with an agent. */
  onChat: (agent: string) => void;
  onPanel: (name: PanelName, argument?: string) => void;
  /** Shows the keyboard shortcuts. */
  onKeys: () => void;
}

export type PanelGroup = "work" | "rules" | "parts" | "service";

interface PanelInfo {
  /** Its place in the control room; without one it belongs next to a chat only. */
  group?: PanelGroup;
  /** Whether it is shown next to a chat, too. */
  isInWorkbench?: boolean;
  icon: LucideIcon;
  Content: ComponentType<PanelProps>;
}

/** A panel that is loaded when it is opened. */
function later(load: () => Promise<ComponentType<PanelProps>>): ComponentType<PanelProps> {
  return lazy(async () => ({ default: await load() }));
}

const TABLE = {
  pages: {
    isInWorkbench: true,
    icon: Globe,
    Content: later(async () => {
      const { PanelView } = await import("@/features/browser-tools/panel-view");
      return ({ services }) => <PanelView stack={services.stack} />;
    }),
  },
  run: {
    isInWorkbench: true,
    icon: Activity,
    Content: later(async () => {
      const { InspectorPanel } = await import("@/features/inspector/inspector-panel");
      return ({ runId }) => <InspectorPanel runId={runId} />;
    }),
  },
  runs: {
    group: "work",
    icon: ListChecks,
    Content: later(async () => {
      const { RunsPanel } = await import("@/features/runs/runs-panel");
      return ({ services, argument, onOpen, onInspect, onPanel }) => (
        <RunsPanel
          argument={argument}
          feed={services.feed}
          onOpen={onOpen}
          onInspect={onInspect}
          onFilter={(filter) => onPanel("runs", filter)}
        />
      );
    }),
  },
  costs: {
    group: "work",
    icon: ChartColumn,
    Content: later(async () => {
      const { CostsPanel } = await import("@/features/costs/costs-panel");
      return ({ onPanel }) => (
        <CostsPanel onRuns={(filter) => onPanel("runs", new URLSearchParams(filter).toString())} />
      );
    }),
  },
  schedules: {
    group: "work",
    isInWorkbench: true,
    icon: CalendarClock,
    Content: later(async () => {
      const { SchedulesPanel } = await import("@/features/schedules/schedules-panel");
      return ({ services, onOpen }) => (
        <SchedulesPanel onOpen={onOpen} onStarted={() => void services.sessions.refresh()} />
      );
    }),
  },
  workers: {
    group: "work",
    icon: Server,
    Content: later(async () => (await import("@/features/workers/workers-panel")).WorkersPanel),
  },
  policy: {
    group: "rules",
    icon: ShieldCheck,
    Content: later(async () => {
      const { PolicyPanel } = await import("@/features/policy/policy-panel");
      return ({ argument, onOpen, onPanel }) => (
        <PolicyPanel argument={argument} onOpen={onOpen} onTab={(tab) => onPanel("policy", tab)} />
      );
    }),
  },
  agents: {
    group: "parts",
    isInWorkbench: true,
    icon: Bot,
    Content: later(async () => {
      const { AgentsPanel } = await import("@/features/agents/agents-panel");
      return (await import("@/app/source-panel")).makeSourcePanel("agents", AgentsPanel);
    }),
  },
  skills: {
    group: "parts",
    isInWorkbench: true,
    icon: BookOpenText,
    Content: later(async () => {
      const { SkillsPanel } = await import("@/features/skills/skills-panel");
      return (await import("@/app/source-panel")).makeSourcePanel("skills", SkillsPanel);
    }),
  },
  prompts: {
    group: "parts",
    icon: TextQuote,
    Content: later(async () => {
      const { PromptsPanel } = await import("@/features/prompts/prompts-panel");
      return (await import("@/app/source-panel")).makeSourcePanel("prompts", PromptsPanel);
    }),
  },
  tools: {
    group: "parts",
    isInWorkbench: true,
    icon: Wrench,
    Content: later(async () => {
      const { ToolsPanel } = await import("@/features/tools/tools-panel");
      return ({ services }) => <ToolsPanel backend={services.trials} follow={services.live.onReload} />;
    }),
  },
  extensions: {
    group: "parts",
    isInWorkbench: true,
    icon: Blocks,
    Content: later(async () => {
      const { ExtensionsPanel } = await import("@/features/extensions/extensions-panel");
      return ({ services }) => <ExtensionsPanel looks={services.looks} follow={services.live.onReload} />;
    }),
  },
  servers: {
    group: "parts",
    icon: Plug,
    Content: later(async () => {
      const { ServersPanel } = await import("@/features/servers/servers-panel");
      return ({ argument }) => <ServersPanel argument={argument} />;
    }),
  },
  models: {
    group: "service",
    isInWorkbench: true,
    icon: Cpu,
    Content: later(async () => {
      const { ModelsPanel } = await import("@/features/models/models-panel");
      return ({ services, argument }) => <ModelsPanel store={services.models} isAtKeys={argument === "keys"} />;
    }),
  },
  settings: {
    group: "service",
    icon: Settings2,
    Content: later(async () => {
      const { SettingsPanel } = await import("@/features/settings/settings-panel");
      const { AttentionSettings } = await import("@/features/attention/attention-settings");
      return function Settings({ services, onKeys }) {
        const { name } = useStore(services.owner);
        return (
          <SettingsPanel
            preferences={services.preferences}
            ownerName={name}
            onSignOut={() => void services.owner.leave()}
            onKeys={onKeys}
          >
            <AttentionSettings store={services.attention} />
          </SettingsPanel>
        );
      };
    }),
  },
} satisfies Record<string, PanelInfo>;

export type PanelName = keyof typeof TABLE;

/** All panels in their order. */
export const PANELS: Readonly<Record<PanelName, PanelInfo>> = TABLE;
const NAMES = Object.keys(TABLE) as PanelName[];

export const WORKBENCH_PANELS = NAMES.filter((name) => PANELS[name].isInWorkbench);
export const ROOM_GROUPS: readonly PanelGroup[] = ["work", "rules", "parts", "service"];

export function panelsOf(group: PanelGroup): PanelName[] {
  return NAMES.filter((name) => PANELS[name].group === group);
}

/** The panel of the control room with this name, otherwise its first one. */
export function roomPanel(name: string): PanelName {
  return NAMES.find((known) => known === name && PANELS[known].group !== undefined) ?? panelsOf("work")[0] ?? "tools";
}
