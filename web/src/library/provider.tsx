import { type ReactNode, useEffect, useState } from "react";
import { ServicesContext } from "@/app/services";
import type { ChatSession } from "@/features/chat/chat-session";
import { ChatContext } from "@/features/chat/use-chat";
import type { DovetailClient } from "@/library/client";
import { readableName } from "@/protocol/shapes";
import { type Language, LanguageContext, loadLanguage } from "@/text/text";
import { AgentNames } from "@/ui/agent-name";

interface ChatProviderProps {
  client: DovetailClient;
  /** The chat that the hooks and parts below read. */
  chat: ChatSession;
  /** The language of buttons and labels. */
  language?: Language;
  children: ReactNode;
}

/** Makes a chat available to the hooks and parts below. */
export function ChatProvider({ client, chat, language = "en", children }: ChatProviderProps) {
  const [shown, setShown] = useState<Language>("en");
  useEffect(() => {
    void loadLanguage(language).then(() => setShown(language));
  }, [language]);
  return (
    <ServicesContext value={client.services}>
      <LanguageContext value={shown}>
        <AgentNames value={readableName}>
          <ChatContext value={chat}>{children}</ChatContext>
        </AgentNames>
      </LanguageContext>
    </ServicesContext>
  );
}
