import { useEffect, useMemo, useRef, useState } from "react";
import { BrokenChat } from "@/app/broken-page";
import { ChatPage } from "@/app/chat-page";
import { makeCommands } from "@/app/commands";
import { navigate, useRoute } from "@/app/route";
import { type Services, ServicesContext } from "@/app/services";
import { Sidebar } from "@/app/sidebar";
import { TopBar } from "@/app/top-bar";
import { useKeys } from "@/app/use-keys";
import { type PanelName, Workbench } from "@/app/workbench";
import type { ComposerHandle } from "@/features/chat/composer";
import { ChatContext } from "@/features/chat/use-chat";
import { Palette } from "@/features/palette/palette";
import { SignIn } from "@/features/sign-in/sign-in";
import { initialLanguage, LANGUAGES, type Language, LanguageContext } from "@/text/text";
import { ErrorBoundary } from "@/ui/error-boundary";
import { useStore } from "@/ui/store";

export function App({ services }: { services: Services }) {
  const [language, setLanguage] = useState<Language>(initialLanguage);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [panel, setPanel] = useState<PanelName | null>(null);
  const [inspected, setInspected] = useState<string | null>(null);
  const { isSignedOut } = useStore(services.owner);
  const composer = useRef<ComposerHandle>(null);
  const route = useRoute();
  const [draft, setDraft] = useState(() => services.draft());
  const session = useMemo(() => (route === null ? draft : services.session(route)), [route, draft, services]);
  useEffect(() => void services.models.refresh(), [services]);
  useEffect(() => {
    document.documentElement.lang = LANGUAGES[language].locale;
    localStorage.setItem("dovetail.language", language);
  }, [language]);
  useOpenedPages(services, () => setPanel("pages"));

  const actions = useMemo(() => {
    const open = (id: string | null) => {
      navigate(id);
      setMenuOpen(false);
    };
    const startNew = () => {
      if (draft.state.messages.length > 0) setDraft(services.draft());
      open(null);
      composer.current?.focus();
    };
    return {
      open,
      onNew: startNew,
      onPalette: () => setPaletteOpen(true),
      onFocus: () => composer.current?.focus(),
      onStop: () => void (session.isBusy && session.stop()),
      onLeave: () => setMenuOpen(false),
      onPanel: setPanel,
      onInspect: (runId: string) => {
        setInspected(runId);
        setPanel("run");
      },
    };
  }, [draft, services, session]);
  useKeys(actions);

  if (isSignedOut) {
    return (
      <LanguageContext value={language}>
        <SignIn owner={services.owner} />
      </LanguageContext>
    );
  }
  return (
    <LanguageContext value={language}>
      <ServicesContext value={services}>
        <ChatContext value={session}>
          <div className="flex h-full">
            <Sidebar
              services={services}
              openId={route}
              isOpen={isMenuOpen}
              onClose={actions.onLeave}
              onOpen={actions.open}
              onNew={actions.onNew}
              onRemoved={(id) => id === route && actions.onNew()}
            />
            <main className="flex min-w-0 flex-1 flex-col">
              <TopBar
                onMenu={() => setMenuOpen(true)}
                onNew={actions.onNew}
                isWorkbenchOpen={panel !== null}
                onWorkbench={() => setPanel(panel === null ? "tools" : null)}
                language={language}
                onLanguage={setLanguage}
              />
              <ErrorBoundary key={session.id} fallback={<BrokenChat onStop={actions.onStop} onNew={actions.onNew} />}>
                <ChatPage
                  composer={composer}
                  onStarted={() => navigate(session.id, "replace")}
                  onInspect={actions.onInspect}
                  onSchedules={() => setPanel("schedules")}
                />
              </ErrorBoundary>
            </main>
            {panel === null ? null : (
              <Workbench
                services={services}
                panel={panel}
                runId={inspected ?? session.runId}
                onPanel={setPanel}
                onClose={() => setPanel(null)}
              />
            )}
          </div>
          {isPaletteOpen ? (
            <Palette
              commands={makeCommands(services, actions, setLanguage, LANGUAGES[language].text)}
              onClose={() => setPaletteOpen(false)}
            />
          ) : null}
        </ChatContext>
      </ServicesContext>
    </LanguageContext>
  );
}

/** Brings the pages to the front when a tool has opened one. */
function useOpenedPages(services: Services, onOpened: () => void): void {
  const { activeKey } = useStore(services.stack);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a newly opened page matters
  useEffect(() => {
    if (activeKey !== null) onOpened();
  }, [activeKey]);
}
