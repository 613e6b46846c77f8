import { ArrowUpRight } from "lucide-react";
import { useEffect, useState } from "react";
import { useServices } from "@/app/services";
import type { SkillInfo, ToolInfo } from "@/protocol/catalog";
import { readableName } from "@/protocol/shapes";
import { type Text, useText } from "@/text/text";
import { listToolsOf } from "@/transport/catalog";
import { Logo } from "@/ui/logo";
import { useStore } from "@/ui/store";

const SHOWN = 4;
/** Tools whose examples an embedded model does right each time: docs/reality.md measures it. */
const EASY: ReadonlySet<string> = new Set(["write_file", "calculate"]);

interface Example {
  title: string;
  detail: string;
  /** What is written into the message. */
  text: string;
}

interface GreetingProps {
  /** The agent of this chat; null until it is known. */
  agent: string | null;
  /** The model that answers, if it is known. */
  model: string | undefined;
  mode: string | undefined;
  onPick: (text: string) => void;
}

/** An empty chat: a greeting, and examples of what its agent can do. */
export function Greeting({ agent, model, mode, onPick }: GreetingProps) {
  const t = useText();
  const { items: skills } = useStore(useServices().skills);
  const tools = useToolsOf(agent, mode);
  return (
    <div className="mx-auto flex w-full max-w-180 flex-col items-center px-4 pb-7 text-center">
      <Logo size={44} />
      <h2 className="mt-5 text-[26px] leading-tight font-semibold tracking-[-0.022em] text-balance">{t.greeting}</h2>
      <p className="mt-1.5 text-soft">{t.greetingHint}</p>
      <ul
        aria-label={t.examplesTitle}
        className={`mt-7 grid w-full grid-cols-2 gap-2 max-sm:grid-cols-1 ${tools === null ? "invisible" : ""}`}
      >
        {chooseExamples(t, model ?? "", tools ?? [], skills).map(({ title, detail, text }) => (
          <li key={text}>
            <button
              type="button"
              onClick={() => onPick(text)}
              className="group flex h-full w-full items-start gap-3 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-left transition-colors hover:border-line-strong"
            >
              <span className="min-w-0 flex-1">
                <span className="block text-[13.5px] font-medium">{title}</span>
                <span className="line-clamp-3 text-[13px] text-soft">{detail}</span>
              </span>
              <ArrowUpRight size={15} className="mt-1 shrink-0 text-faint group-hover:text-accent" aria-hidden="true" />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * What an agent with these tools can be asked: shipped tools have examples here, others say themselves what they do,
 * and skills are offered if it can load them. An agent that has nothing of the kind is asked plain questions. An
 * embedded model is offered only what it does well: a description names no item or order, and it would invent one.
 */
export function chooseExamples(
  t: Text,
  model: string,
  tools: readonly ToolInfo[],
  skills: readonly SkillInfo[],
): Example[] {
  const plain = examplesFor(t, (tool) => tool === "");
  if (model === "local:small") return plain.slice(0, SHOWN);
  const names = new Set(tools.map(({ name }) => name));
  if (model.startsWith("local:")) {
    const easy = examplesFor(t, (tool) => names.has(tool) && EASY.has(tool));
    return [...easy, ...plain].slice(0, SHOWN);
  }
  const found = [
    ...examplesFor(t, (tool) => names.has(tool)),
    ...tools.filter((tool) => isOfUse(tool) && !t.examples.some(([name]) => name === tool.name)).map(exampleOf),
    ...(names.has("load_skill") ? skills.map(exampleOfSkill) : []),
  ];
  return (found.length === 0 ? plain : found).slice(0, SHOWN);
}

function examplesFor(t: Text, isThere: (tool: string) => boolean): Example[] {
  return t.examples.flatMap(([tool, title, text]) => (isThere(tool) ? [{ title, detail: text, text }] : []));
}

/** Whether people would ask for what a tool does; other tools only help an agent with its work. */
function isOfUse({ kind, origin, description }: ToolInfo): boolean {
  return description !== "" && kind !== "think" && origin !== "skills" && origin !== "built-in";
}

/** The first sentence of a tool's description; the rest is for models. */
function exampleOf({ title, description }: ToolInfo): Example {
  const [first = ""] = description.split(/\n\s*\n|(?<=[.!?])\s+(?=\p{Lu})|(?<=[。！？])/u);
  const text = first.replaceAll(/\s+/g, " ").trim();
  return { title, detail: text, text };
}

function exampleOfSkill({ name, description }: SkillInfo): Example {
  return { title: readableName(name), detail: description, text: `/skill/${name} ` };
}

/** The tools that an agent can use, again whenever folders and agents are reloaded; null until they are known. */
function useToolsOf(agent: string | null, mode: string | undefined): readonly ToolInfo[] | null {
  const { live } = useServices();
  const [tools, setTools] = useState<readonly ToolInfo[] | null>(null);
  useEffect(() => {
    if (agent === null) return;
    let isCurrent = true;
    const take = (found: readonly ToolInfo[]) => isCurrent && setTools(found);
    const read = () => void listToolsOf(agent, mode).then(take, () => take([]));
    read();
    const leave = live.onReload(read);
    return () => {
      isCurrent = false;
      leave();
    };
  }, [agent, mode, live]);
  return tools;
}
