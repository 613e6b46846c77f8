import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { ChatPage } from "@/app/chat-page";
import { navigate, useRoute } from "@/app/route";
import type { Services } from "@/app/services";
import { Sidebar } from "@/app/sidebar";
import { TopBar } from "@/app/top-bar";
import { ChatContext } from "@/features/chat/use-chat";
import { initialLanguage, LANGUAGES, type Language, LanguageContext } from "@/text/text";

export function App({ services }: { services: Services }) {
  const [language, setLanguage] = useState<Language>(initialLanguage);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const route = useRoute();
  const [draft, setDraft] = useState(() => services.draft());
  const session = useMemo(() => (route === null ? draft : services.session(route)), [route, draft, services]);
  const { models, isKnown } = useSyncExternalStore(services.models.subscribe, services.models.read);
  useEffect(() => void services.models.refresh(), [services]);
  useEffect(() => {
    document.documentElement.lang = LANGUAGES[language].locale;
    localStorage.setItem("dovetail.language", language);
  }, [language]);

  const startNew = () => {
    if (draft.state.messages.length > 0) setDraft(services.draft());
    navigate(null);
    setMenuOpen(false);
  };
  const open = (id: string) => {
    navigate(id);
    setMenuOpen(false);
  };
  return (
    <LanguageContext value={language}>
      <ChatContext value={session}>
        <div className="flex h-full">
          <Sidebar
            services={services}
            openId={route}
            isOpen={isMenuOpen}
            onClose={() => setMenuOpen(false)}
            onOpen={open}
            onNew={startNew}
            onRemoved={(id) => id === route && startNew()}
          />
          <main id="chat" className="flex min-w-0 flex-1 flex-col">
            <TopBar onMenu={() => setMenuOpen(true)} onNew={startNew} language={language} onLanguage={setLanguage} />
            <ChatPage
              key={session.id}
              models={models}
              areModelsKnown={isKnown}
              onStarted={() => navigate(session.id, "replace")}
            />
          </main>
        </div>
      </ChatContext>
    </LanguageContext>
  );
}
