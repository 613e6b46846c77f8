import {
  Bot,
  Calculator,
  CircleHelp,
  FilePen,
  FileText,
  FolderSearch,
  Globe,
  Lightbulb,
  ListTodo,
  type LucideIcon,
  MoveRight,
  Search,
  Sparkles,
  SquareTerminal,
  Trash2,
  Wrench,
} from "lucide-react";
import type { Activity } from "@/features/tool-cards/verbs";

const ICONS: Record<Activity, LucideIcon> = {
  read: FileText,
  list: FolderSearch,
  write: FilePen,
  edit: FilePen,
  delete: Trash2,
  move: MoveRight,
  search: Search,
  execute: SquareTerminal,
  fetch: Globe,
  browse: Globe,
  think: Calculator,
  skill: Sparkles,
  ask: CircleHelp,
  todo: ListTodo,
  agent: Bot,
  other: Wrench,
  thought: Lightbulb,
};

/** The sign of what a step does. */
export function StepIcon({ activity }: { activity: Activity }) {
  const Icon = ICONS[activity];
  return <Icon size={15} aria-hidden="true" />;
}
