import { useCallback, useEffect, useMemo, useState } from "react";
import { BackgroundTasks } from "@/app/background-tasks";
import { Greeting } from "@/app/greeting";
import { Messages } from "@/app/messages";
import { OriginBar } from "@/app/origin-bar";
import { useServices } from "@/app/services";
import { AgentPicker } from "@/features/agents/agent-picker";
import { Composer, type ComposerHandle } from "@/features/chat/composer";
import { PendingList } from "@/features/chat/pending-list";
import type { Outgoing } from "@/features/chat/session-info";
import { useAgent, useChatSession, useHasMessages, useIsBusy, usePending } from "@/features/chat/use-chat";
import { ModelBanner } from "@/features/models/model-banner";
import { ModelPicker } from "@/features/models/model-picker";
import { DEFAULT_AGENT, defaultFirst } from "@/protocol/catalog";
import type { MessageMode } from "@/protocol/inbox";
import { listAgents, listSkills } from "@/transport/catalog";
import { useStore } from "@/ui/store";

const MODEL_KEY = "dovetail.model";

interface ChatPageProps {
  composer: React.RefObject<ComposerHandle | null>;
  onStarted: () => void;
  onInspect: (runId: string) => void;
  onSchedules: () => void;
}

export function ChatPage({ composer, onStarted, onInspect, onSchedules }: ChatPageProps) {
  const services = useServices();
  const { session, isLoading, loadError } = useChatSession();
  const isBusy = useIsBusy();
  const hasMessages = useHasMessages();
  const { models, isKnown } = useStore(services.models);
  const [chosen, setChosen] = useState(() => localStorage.getItem(MODEL_KEY));
  const skills = useCatalog(listSkills, (found) => found.skills);
  const model = models.find((one) => one.name === chosen && one.state === "ready");
  const agents = useCatalog(listAgents, (found) => defaultFirst(found.agents));
  const agent = useAgent() ?? DEFAULT_AGENT;
  const agentNames = useMemo(() => new Set(agents.map((one) => one.name)), [agents]);
  const isAgentThere = agents.some((one) => one.name === agent);
  useEffect(() => {
    session.requestBody = () => ({
      ...(model === undefined ? {} : { model: model.name }),
      ...(isAgentThere ? { agent } : {}),
    });
  }, [session, model, agent, isAgentThere]);

  const send = useCallback(
    (message: Outgoing, mode: MessageMode) => {
      const sent = session.submit(message, mode);
      onStarted();
      return sent;
    },
    [session, onStarted],
  );
  const choose = (name: string | null) => {
    setChosen(name);
    if (name === null) localStorage.removeItem(MODEL_KEY);
    else localStorage.setItem(MODEL_KEY, name);
  };
  const isEmpty = !hasMessages && !isLoading && loadError === null;
  return (
    <div className={`flex min-h-0 flex-1 flex-col ${isEmpty ? "justify-center pb-[12vh]" : ""}`}>
      <OriginBar onSchedules={onSchedules} />
      {isEmpty ? <Greeting onPick={(text) => composer.current?.fill(text)} /> : <Messages onInspect={onInspect} />}
      <div className="mx-auto w-full max-w-180 space-y-2 px-4 pb-4">
        {isKnown ? <ModelBanner models={models} /> : null}
        <BackgroundTasks agents={agentNames} />
        <PendingList messages={usePending()} onRemove={(id) => void session.inbox.remove(id).catch(() => undefined)} />
        <Composer
          handle={composer}
          isBusy={isBusy}
          skills={skills}
          onSend={send}
          onStop={() => void session.stop()}
          tools={
            <>
              <AgentPicker agents={agents} chosen={agent} onChoose={(name) => session.choose(name)} />
              <ModelPicker models={models} chosen={chosen} onChoose={choose} />
            </>
          }
        />
      </div>
    </div>
  );
}

/** A list from the server; empty until it is loaded, and if the server does not have the route. */
function useCatalog<Found, Item>(load: () => Promise<Found>, pick: (found: Found) => Item[]): Item[] {
  const [items, setItems] = useState<Item[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `pick` never changes
  useEffect(() => {
    load().then(
      (found) => setItems(pick(found)),
      () => setItems([]),
    );
  }, [load]);
  return items;
}
