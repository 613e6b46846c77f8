/** The catalog: tools, agents, skills and extension folders. */

import { isRecord, type Json, list, number, optionalText, readableName, record, text } from "@/protocol/shapes";

/** The agent that answers unless another one is chosen. */
export const DEFAULT_AGENT = "master";

export interface ToolInfo {
  name: string;
  title: string;
  description: string;
  kind: string;
  origin: string;
  parameters: Json;
}

export interface AgentInfo {
  name: string;
  title: string;
  description: string;
  model: string | null;
  tools: string[];
  source: string | null;
}

export interface SkillInfo {
  name: string;
  description: string;
  scope: string | null;
  source: string | null;
}

/** Something that could not be loaded, and why. */
export interface Fault {
  name: string;
  message: string;
  source: string | null;
}

export interface ExtensionReport {
  version: number;
  loaded: string[];
  failed: Fault[];
  kept: string[];
  /** Folders whose newest version an earlier reload is still importing. */
  loading: string[];
  /** Folders that the settings leave out. */
  excluded: string[];
  notices: Array<{ folder: string; text: string }>;
  /** The modules and style sheets that folders bring for the page. */
  web: Record<string, string[]>;
  isWatching: boolean;
}

const names = (value: unknown): string[] => list(value).map((name) => text(name));

export function parseFault(value: unknown): Fault {
  const body = record(value);
  const line = number(body["line"]);
  const source = optionalText(body["path"] ?? body["file"]);
  return {
    name: text(body["extension"]) || nameOfFile(source ?? ""),
    message: text(body["message"] ?? body["error"]),
    source: source !== null && line > 0 ? `${source}:${line}` : source,
  };
}

/** The name under which a file is known: a skill has that of its folder. */
function nameOfFile(path: string): string {
  const [file = "", folder = ""] = path.split(/[\\/]/).reverse();
  return file === "SKILL.md" ? folder : file.replace(/\.[^.]+$/, "");
}

export function parseTools(value: unknown): { tools: ToolInfo[]; generation: number } {
  const body = record(value);
  const tools = list(body["tools"]).filter(isRecord);
  return {
    generation: number(body["generation"]),
    tools: tools.map((tool) => ({
      name: text(tool["name"]),
      title: readableName(text(tool["title"]) || text(tool["name"])),
      description: text(tool["description"]),
      kind: text(tool["kind"], "other"),
      origin: text(tool["origin"]),
      parameters: record(tool["parameters"]),
    })),
  };
}

export function parseAgents(value: unknown): { agents: AgentInfo[]; errors: Fault[]; notices: string[] } {
  const body = record(value);
  const agents = list(body["agents"]).filter(isRecord);
  return {
    errors: list(body["errors"]).map(parseFault),
    notices: names(body["notices"]),
    agents: agents.map((agent) => ({
      name: text(agent["name"]),
      title: text(agent["title"]) || text(agent["name"]),
      description: text(agent["description"]),
      model: optionalText(agent["model"]),
      tools: names(agent["tools"]),
      source: optionalText(agent["source"]),
    })),
  };
}

/** The agents, the default one first. */
export function defaultFirst(agents: readonly AgentInfo[]): AgentInfo[] {
  const isDefault = (agent: AgentInfo) => agent.name === DEFAULT_AGENT;
  return [...agents.filter(isDefault), ...agents.filter((agent) => !isDefault(agent))];
}

export function parseSkills(value: unknown): { skills: SkillInfo[]; errors: Fault[] } {
  const body = record(value);
  const skills = list(body["skills"]).filter(isRecord);
  return {
    errors: list(body["errors"]).map(parseFault),
    skills: skills.map((skill) => ({
      name: text(skill["name"]),
      description: text(skill["description"]),
      scope: optionalText(skill["scope"]),
      source: optionalText(skill["path"]),
    })),
  };
}

export function parseExtensions(value: unknown): ExtensionReport {
  const body = record(value);
  return {
    version: number(body["version"]),
    loaded: names(body["loaded_extensions"]),
    failed: list(body["failed_extensions"]).map(parseFault),
    kept: names(body["kept"]),
    loading: names(body["loading"]),
    excluded: names(body["excluded"]),
    notices: list(body["notices"]).map((notice) => {
      const { extension, text: words } = record(notice);
      return { folder: text(extension), text: text(words) };
    }),
    web: Object.fromEntries(Object.entries(record(body["web"])).map(([folder, urls]) => [folder, names(urls)])),
    isWatching: body["watching"] === true,
  };
}
