import { useCallback, useRef, useState } from "react";
import { drawings } from "@/app/drawings";
import { BranchNav } from "@/features/branches/branch-nav";
import { Composer, type ComposerHandle } from "@/features/chat/composer";
import { EditField } from "@/features/chat/edit-field";
import { Failure } from "@/features/chat/failure";
import { MessageFooter } from "@/features/chat/message-footer";
import { MessageView } from "@/features/chat/message-view";
import { Thread } from "@/features/chat/thread";
import { useChatSession, useChatState } from "@/features/chat/use-chat";
import { ModelBanner } from "@/features/models/model-banner";
import { ModelPicker } from "@/features/models/model-picker";
import { type ChatMessage, messageText } from "@/protocol/message";
import type { ModelInfo } from "@/protocol/model";
import { useText } from "@/text/text";
import { Logo } from "@/ui/logo";
import { Spinner } from "@/ui/spinner";

const MODEL_KEY = "dovetail.model";

interface ChatPageProps {
  models: readonly ModelInfo[];
  areModelsKnown: boolean;
  onStarted: () => void;
}

export function ChatPage({ models, areModelsKnown, onStarted }: ChatPageProps) {
  const { session, isLoading, loadError } = useChatSession();
  const { messages, isBusy } = useChatState();
  const [chosen, setChosen] = useState(() => localStorage.getItem(MODEL_KEY));
  const composer = useRef<ComposerHandle>(null);

  const send = useCallback(
    (text: string) => {
      const model = models.find((one) => one.name === localStorage.getItem(MODEL_KEY) && one.state === "ready");
      session.requestBody = () => (model === undefined ? {} : { model: model.name });
      void session.submit({ text });
      onStarted();
    },
    [session, models, onStarted],
  );
  const choose = (name: string | null) => {
    setChosen(name);
    if (name === null) localStorage.removeItem(MODEL_KEY);
    else localStorage.setItem(MODEL_KEY, name);
  };
  const isEmpty = messages.length === 0 && !isLoading && loadError === null;
  return (
    <div className={`flex min-h-0 flex-1 flex-col ${isEmpty ? "justify-center pb-[12vh]" : ""}`}>
      {isEmpty ? <Greeting onPick={(text) => composer.current?.fill(text)} /> : <Messages />}
      <div className="mx-auto w-full max-w-180 space-y-2 px-4 pb-4">
        {areModelsKnown ? <ModelBanner models={models} /> : null}
        <Composer
          handle={composer}
          isBusy={isBusy}
          onSend={send}
          onStop={() => void session.stop()}
          tools={<ModelPicker models={models} chosen={chosen} onChoose={choose} />}
        />
      </div>
    </div>
  );
}

function Greeting({ onPick }: { onPick: (text: string) => void }) {
  const t = useText();
  return (
    <div className="mx-auto w-full max-w-180 px-4 pb-7">
      <div className="flex flex-col items-center text-center">
        <Logo size={44} />
        <h2 className="mt-5 text-[26px] leading-tight font-semibold tracking-[-0.022em] text-balance">{t.greeting}</h2>
        <p className="mt-1.5 text-soft">{t.greetingHint}</p>
        <ul className="mt-6 flex flex-wrap justify-center gap-2">
          {t.suggestions.map((suggestion) => (
            <li key={suggestion}>
              <button
                type="button"
                onClick={() => onPick(suggestion)}
                className="rounded-full border border-line bg-surface px-3.5 py-1.5 text-[13.5px] text-soft transition-colors hover:border-line-strong hover:text-ink"
              >
                {suggestion}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Messages() {
  const t = useText();
  const { session, siblingNav, isLoading, loadError } = useChatSession();
  const { messages, status, error, isBusy } = useChatState();
  const [editing, setEditing] = useState<string | null>(null);
  const retry = useCallback((id: string) => void session.retry(id), [session]);
  const last = messages.at(-1);
  const isWaiting = isBusy && (last?.role !== "assistant" || last.parts.every((part) => part.type === "step-start"));

  const view = (message: ChatMessage) => {
    if (message.id === editing) {
      const send = (text: string) => {
        setEditing(null);
        void session.edit(message.id, { text });
      };
      return <EditField key={message.id} text={messageText(message)} onCancel={() => setEditing(null)} onSend={send} />;
    }
    const isLive = isBusy && message === last && message.role === "assistant";
    const footer = isLive ? null : (
      <MessageFooter message={message} isDisabled={isBusy} onRetry={retry} onEdit={setEditing}>
        <BranchNav siblings={siblingNav[message.id]} isDisabled={isBusy} onSwitch={(id) => void session.switchTo(id)} />
      </MessageFooter>
    );
    return <MessageView key={message.id} message={message} isLive={isLive} drawings={drawings} footer={footer} />;
  };
  return (
    <Thread anchor={messages.filter((message) => message.role === "user").length}>
      <div className="space-y-3">
        {messages.map(view)}
        {isWaiting || isLoading ? (
          <p role="status" className="flex items-center gap-2.5 text-[13.5px] text-faint">
            <Spinner /> {t.waiting}
          </p>
        ) : null}
        {status === "error" && error !== null ? (
          <Failure error={error} onRetry={() => last && retry(last.id)} onReconnect={() => void session.rejoin()} />
        ) : null}
        {loadError ? (
          <Failure error={loadError} onRetry={() => void session.open()} onReconnect={() => void session.open()} />
        ) : null}
      </div>
    </Thread>
  );
}
