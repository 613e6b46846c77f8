import { useCallback, useEffect, useMemo, useState } from "react";
import { AskBar } from "@/app/ask-bar";
import { BackgroundTasks } from "@/app/background-tasks";
import { MissingChat } from "@/app/broken-page";
import { Greeting } from "@/app/greeting";
import { Messages } from "@/app/messages";
import { OriginBar } from "@/app/origin-bar";
import { useRoute } from "@/app/route";
import { useServices } from "@/app/services";
import { useMode } from "@/app/use-mode";
import { AgentPicker } from "@/features/agents/agent-picker";
import { askPlaces } from "@/features/approvals/ask-places";
import { ModePicker } from "@/features/approvals/mode-picker";
import type { RequestBody } from "@/features/chat/chat-session";
import { mayMention, mentionedAgent, type Suggestion } from "@/features/chat/completion";
import { Composer, type ComposerHandle } from "@/features/chat/composer";
import { NEW_CHAT } from "@/features/chat/drafts";
import { PendingList } from "@/features/chat/pending-list";
import type { Outgoing } from "@/features/chat/session-info";
import { useChatOptions, useChatSession, useHasMessages, useIsBusy, usePending } from "@/features/chat/use-chat";
import { ModelBanner } from "@/features/models/model-banner";
import { ModelPicker } from "@/features/models/model-picker";
import { activeModel } from "@/features/models/model-store";
import { type AgentInfo, DEFAULT_AGENT, type SkillInfo } from "@/protocol/catalog";
import type { MessageMode } from "@/protocol/inbox";
import type { MessagePart } from "@/protocol/message";
import type { ChoiceChange } from "@/protocol/session";
import { useText } from "@/text/text";
import { useAgentName } from "@/ui/agent-name";
import type { ListStore } from "@/ui/list-store";
import { ErrorNotice } from "@/ui/notice";
import { useStore } from "@/ui/store";

interface ChatPageProps {
  composer: React.RefObject<ComposerHandle | null>;
  onStarted: () => void;
  onNew: () => void;
  /** Whether Escape was pressed once: another one stops the answer. */
  isStopAsked: boolean;
  /** The message in the address. */
  target: string | null;
  onInspect: (runId: string) => void;
  onSchedules: () => void;
}

/** The chat in the address, or that there is none. */
export function ChatPage({ onNew, ...props }: ChatPageProps) {
  const { isMissing } = useChatSession();
  const hasMessages = useHasMessages();
  return isMissing && !hasMessages ? <MissingChat onNew={onNew} /> : <OpenChat {...props} />;
}

function OpenChat({ composer, onStarted, isStopAsked, target, onInspect, onSchedules }: Omit<ChatPageProps, "onNew">) {
  const services = useServices();
  const { session, isLoading, loadError } = useChatSession();
  const isBusy = useIsBusy();
  const hasMessages = useHasMessages();
  const { models, isKnown } = useStore(services.models);
  const choice = useChatOptions();
  const [refusal, setRefusal] = useState<unknown>(null);
  const { items: skills } = useStore(services.skills);
  const { items: agents } = useStore(services.agents);
  const agent = choice.agent ?? DEFAULT_AGENT;
  const agentName = useAgentName();
  const agentNames = useMemo(() => new Set(agents.map((one) => one.name)), [agents]);
  useForgottenChoice(agents);
  useEffect(() => {
    session.requestBody = (parts) => addressee(parts, services.agents);
  }, [session, services.agents]);
  const suggestions = useMemo(() => suggest(agents, skills, agentName), [agents, skills, agentName]);
  const [editing, setEditing] = useState<string | null>(null);
  const route = useRoute();
  const isNew = route.kind === "chat" && route.sessionId === null;
  const { permitted, mode, name: modeName, toOption } = useMode();
  const modelName = choice.model ?? activeModel(models)?.name;

  useEffect(() => {
    askPlaces.rest = () => composer.current?.focus();
  }, [composer]);
  const send = useCallback(
    (message: Outgoing, mode: MessageMode) => {
      const sent = session.submit(message, mode);
      onStarted();
      return sent;
    },
    [session, onStarted],
  );
  const editLast = () => {
    const last = session.state.messages.findLast((message) => message.role === "user");
    if (last !== undefined && !session.isBusy) setEditing(last.id);
  };
  const edit = useCallback(
    (id: string | null) => {
      setEditing(id);
      if (id === null) composer.current?.focus();
    },
    [composer],
  );
  const choose = (change: ChoiceChange) =>
    void session.setOptions(change).then(
      () => setRefusal(null),
      (error: unknown) => setRefusal(error),
    );
  const isEmpty = !hasMessages && !isLoading && loadError === null;
  return (
    <div className={`flex min-h-0 flex-1 flex-col ${isEmpty ? "justify-center pb-[12vh]" : ""}`}>
      <OriginBar onSchedules={onSchedules} />
      {isEmpty ? (
        <div className="min-h-0 overflow-y-auto">
          <Greeting
            agent={agentNames.has(agent) ? agent : null}
            model={modelName}
            mode={choice.mode}
            onPick={(text) => composer.current?.fill(text)}
          />
        </div>
      ) : (
        <Messages editing={editing} onEdit={edit} onInspect={onInspect} target={target} />
      )}
      <div className="mx-auto w-full max-w-180 space-y-2 px-4 pb-4">
        {isKnown ? <ModelBanner models={models} /> : null}
        <BackgroundTasks agents={agentNames} />
        <AskBar />
        <PendingList messages={usePending()} onRemove={(id) => void session.inbox.remove(id).catch(() => undefined)} />
        {refusal === null ? null : <ErrorNotice error={refusal} />}
        <StopHint isShown={isStopAsked} />
        <Composer
          handle={composer}
          drafts={services.drafts}
          draftKey={isNew ? NEW_CHAT : session.id}
          isBusy={isBusy}
          onSend={send}
          onStop={() => void session.stop()}
          onEditLast={editLast}
          suggestions={suggestions}
          library={services.prompts}
          options={choice}
          onOptions={(change) => session.setOptions(change)}
          summary={[agentName(agent), modeName, modelName].filter(Boolean).join(" · ")}
          tools={
            <>
              <AgentPicker agents={agents} chosen={agent} onChoose={(name) => choose({ agent: name })} />
              <ModePicker
                modes={permitted}
                chosen={mode}
                isBusy={isBusy}
                onChoose={(name) => choose({ mode: toOption(name) })}
              />
              <ModelPicker models={models} chosen={choice.model ?? null} onChoose={(model) => choose({ model })} />
            </>
          }
        />
      </div>
    </div>
  );
}

/** Leaves out of a new chat what the browser remembers but the server does not have any more. */
function useForgottenChoice(agents: readonly AgentInfo[]): void {
  const { models: store } = useServices();
  const { session } = useChatSession();
  const { agent, model } = useChatOptions();
  const { models, isKnown } = useStore(store);
  const isModelGone = isKnown && !models.some((one) => one.name === model && one.state === "ready");
  const isAgentGone = agents.length > 0 && !agents.some((one) => one.name === agent);
  useEffect(() => {
    if (session.options.isStored) return;
    if (isModelGone) session.options.forget("model");
    if (isAgentGone) session.options.forget("agent");
  }, [session, isModelGone, isAgentGone]);
}

function suggest(
  agents: readonly AgentInfo[],
  skills: readonly SkillInfo[],
  agentName: (name: string) => string,
): Suggestion[] {
  return [
    ...agents.map(({ name, description }) => ({ kind: "agent" as const, name, title: agentName(name), description })),
    ...skills.map(({ name, description }) => ({ kind: "skill" as const, name, title: `/skill/${name}`, description })),
  ];
}

/** The agent that a message names. Names are compared with those of the server, also while they are on their way. */
function addressee(parts: readonly MessagePart[], agents: ListStore<AgentInfo>): RequestBody | Promise<RequestBody> {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  if (!mayMention(text)) return {};
  return agents.whenRead().then((known) => {
    const agent = mentionedAgent(text, new Set(known.map((one) => one.name)));
    return agent === null ? {} : { agent };
  });
}

function StopHint({ isShown }: { isShown: boolean }) {
  const t = useText();
  const isBusy = useIsBusy();
  return (
    <p role="status" className="text-center text-[13px] text-soft empty:hidden">
      {isShown && isBusy ? t.stopAgain : null}
    </p>
  );
}
