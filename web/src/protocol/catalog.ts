/** What there is to work with: tools, agents, skills and extension folders. */

import { isRecord, type Json, list, number, optionalText, record, text } from "@/protocol/shapes";

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

/** Something that could not be read, and why. */
export interface Fault {
  name: string;
  message: string;
  source: string | null;
}

export interface ExtensionInfo {
  name: string;
  tools: string[];
}

export interface ExtensionReport {
  version: number;
  loaded: ExtensionInfo[];
  failed: Fault[];
  kept: string[];
  isWatching: boolean;
}

const names = (value: unknown): string[] =>
  list(value).map((item) => (isRecord(item) ? text(item["name"]) : text(item)));

function parseFault(value: unknown, name = ""): Fault {
  if (typeof value === "string") return { name, message: value, source: null };
  const body = record(value);
  const line = number(body["line"]);
  const source = optionalText(body["path"] ?? body["file"] ?? body["source"]);
  return {
    name: text(body["name"], name),
    message: text(body["message"] ?? body["error"]),
    source: source !== null && line > 0 ? `${source}:${line}` : source,
  };
}

/** Faults come as a list of records or as a mapping from names. */
export function parseFaults(value: unknown): Fault[] {
  if (isRecord(value)) return Object.entries(value).map(([name, fault]) => parseFault(fault, name));
  return list(value).map((fault) => parseFault(fault));
}

export function parseTools(value: unknown): { tools: ToolInfo[]; generation: number } {
  const body = record(value);
  const tools = list(body["tools"]).filter(isRecord);
  return {
    generation: number(body["generation"]),
    tools: tools.map((tool) => ({
      name: text(tool["name"]),
      title: text(tool["title"] ?? tool["display_name"]) || text(tool["name"]),
      description: text(tool["description"]),
      kind: text(tool["kind"], "other"),
      origin: text(tool["origin"]),
      parameters: record(tool["parameters"] ?? tool["schema"]),
    })),
  };
}

export function parseAgents(value: unknown): { agents: AgentInfo[]; errors: Fault[] } {
  const body = record(value);
  const agents = list(body["agents"]).filter(isRecord);
  return {
    errors: parseFaults(body["errors"]),
    agents: agents.map((agent) => ({
      name: text(agent["name"]),
      description: text(agent["description"]),
      model: optionalText(agent["model"]),
      tools: names(agent["tools"]),
      source: optionalText(agent["source"] ?? agent["path"]),
    })),
  };
}

export function parseSkills(value: unknown): { skills: SkillInfo[]; errors: Fault[] } {
  const body = record(value);
  const skills = list(body["skills"]).filter(isRecord);
  return {
    errors: parseFaults(body["errors"]),
    skills: skills.map((skill) => ({
      name: text(skill["name"]),
      description: text(skill["description"]),
      scope: optionalText(skill["scope"]),
      source: optionalText(skill["source"] ?? skill["path"]),
    })),
  };
}

export function parseExtensions(value: unknown): ExtensionReport {
  const body = record(value);
  const loaded = body["loaded_extensions"] ?? body["extensions"];
  return {
    version: number(body["version"]),
    loaded: list(loaded).map((item) => ({ name: nameOf(item), tools: isRecord(item) ? names(item["tools"]) : [] })),
    failed: parseFaults(body["failed_extensions"] ?? body["errors"]),
    kept: names(body["kept"]),
    isWatching: body["watching"] === true,
  };
}

function nameOf(item: unknown): string {
  return isRecord(item) ? text(item["name"]) : text(item);
}
