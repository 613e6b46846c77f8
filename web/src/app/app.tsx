import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useAttention, Waiting } from "@/app/attention";
import { BrokenChat } from "@/app/broken-page";
import { ChatPage } from "@/app/chat-page";
import { Chats } from "@/app/chats";
import type { OverlayName } from "@/app/overlay";
import { type PanelName, type PanelProps, roomPanel } from "@/app/panels";
import { Room, RoomList } from "@/app/room";
import { navigate, openChat, openRoom, type Route, useRoute } from "@/app/route";
import { type Services, ServicesContext } from "@/app/services";
import { Sidebar } from "@/app/sidebar";
import { useStopKey } from "@/app/stop-key";
import { TopBar } from "@/app/top-bar";
import { type KeyActions, useKeys } from "@/app/use-keys";
import type { ChatSession } from "@/features/chat/chat-session";
import type { ComposerHandle } from "@/features/chat/composer";
import { ChatContext, useChatSession } from "@/features/chat/use-chat";
import { SignIn } from "@/features/sign-in/sign-in";
import { readableName } from "@/protocol/shapes";
import { LANGUAGES, LanguageContext, type Text, textIn, titleIn, useText } from "@/text/text";
import { AgentNames } from "@/ui/agent-name";
import { ErrorBoundary } from "@/ui/error-boundary";
import { Remedies } from "@/ui/remedy";
import { useStore } from "@/ui/store";

const SharedPage = lazy(async () => ({ default: (await import("@/app/shared-page")).SharedPage }));
const Workbench = lazy(async () => ({ default: (await import("@/app/workbench")).Workbench }));
const loadOverlay = () => import("@/app/overlay");
const Overlay = lazy(async () => ({ default: (await loadOverlay()).Overlay }));
const SIDEBAR_KEY = "dovetail.sidebar";

export function App({ services }: { services: Services }) {
  const { language } = useStore(services.preferences);
  const { isSignedOut } = useStore(services.owner);
  const route = useRoute();
  const agentName = useAgentNames(services, textIn(language));
  useEffect(() => {
    document.documentElement.lang = LANGUAGES[language].locale;
  }, [language]);
  return (
    <LanguageContext value={language}>
      <ServicesContext value={services}>
        <AgentNames value={agentName}>
          {route.kind === "shared" ? (
            <Suspense fallback={null}>
              <SharedPage services={services} token={route.token} />
            </Suspense>
          ) : isSignedOut ? (
            <SignIn owner={services.owner} />
          ) : (
            <Remedies value={services.remedies}>
              <Shell services={services} route={route} />
            </Remedies>
          )}
        </AgentNames>
      </ServicesContext>
    </LanguageContext>
  );
}

/** An agent is called by its title, otherwise by its name as words. */
function useAgentNames(services: Services, t: Text): (name: string) => string {
  const { items: agents } = useStore(services.agents);
  return useMemo(() => {
    const titles = new Map(agents.map(({ name, title }) => [name, title]));
    return (name) => titleIn(t, titles.get(name) ?? readableName(name));
  }, [agents, t]);
}

interface ShellProps {
  services: Services;
  route: Route;
}

/** The parts of the page around the chat or the control room, and what connects them. */
function Shell({ services, route }: ShellProps) {
  useEffect(() => {
    for (const one of [services.agents, services.skills]) void one.refresh();
    void loadOverlay().catch(() => undefined); // keys that are typed right after Ctrl+K belong to it
  }, [services]);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isCollapsed, setCollapsed] = useState(() => localStorage.getItem(SIDEBAR_KEY) === "hidden");
  const [above, setAbove] = useState<OverlayName | null>(null);
  const [panel, setPanel] = useState<PanelName | null>(() => firstPanel(services));
  const [inspected, setInspected] = useState<string | null>(null);
  const composer = useRef<ComposerHandle>(null);
  const [draft, setDraft] = useState(() => services.draft());
  const chatId = useChatId(route);
  const session = useMemo(() => (chatId === null ? draft : services.session(chatId)), [chatId, draft, services]);
  const closePanel = useCallback(() => setPanel(null), []);
  const isRoom = route.kind === "room";
  // The control room begins without what was open next to the chat.
  useEffect(() => {
    if (isRoom) setPanel(null);
  }, [isRoom]);
  useOpenedPages(services, () => setPanel("pages"));

  const actions = useMemo(() => {
    const open = (id: string | null, messageId: string | null = null) => {
      openChat(id, messageId);
      setMenuOpen(false);
    };
    const startNew = () => {
      if (draft.state.messages.length > 0) setDraft(services.draft());
      open(null);
      composer.current?.focus();
    };
    const collapse = (isHidden: boolean) => {
      localStorage.setItem(SIDEBAR_KEY, isHidden ? "hidden" : "shown");
      setCollapsed(isHidden);
    };
    return {
      open,
      onNew: startNew,
      onChat: (agent: string) => {
        const chat = services.draft();
        void chat.setOptions({ agent });
        setDraft(chat);
        open(null);
      },
      onPalette: () => setAbove("palette"),
      onFocus: () => composer.current?.focus(),
      onStop: () => void (session.isBusy && session.stop()),
      onLeave: () => setMenuOpen(false),
      onCollapse: () => collapse(true),
      onShow: () => collapse(false),
      onSidebar: () => collapse(localStorage.getItem(SIDEBAR_KEY) !== "hidden"),
      onPanel: setPanel,
      onWorkbench: () => setPanel((before) => (before === null ? "tools" : null)),
      onHelp: () => setAbove("help"),
      onInspect: (runId: string) => {
        setInspected(runId);
        setPanel("run");
      },
    };
  }, [draft, services, session]);
  const isStopAsked = useAllKeys(actions, session, panel, closePanel);
  useAttention(services, session, actions);

  const panelProps: PanelProps = {
    services,
    argument: route.kind === "room" ? route.argument : null,
    runId: inspected ?? session.runId,
    onOpen: actions.open,
    onInspect: actions.onInspect,
    onChat: actions.onChat,
    onPanel: route.kind === "room" ? openRoom : actions.onPanel,
    onKeys: actions.onHelp,
  };
  const room = route.kind === "room" ? roomPanel(route.panel) : null;
  return (
    <ChatContext value={session}>
      <div className="flex h-full">
        <Sidebar
          isOpen={isMenuOpen}
          isCollapsed={isCollapsed}
          onClose={actions.onLeave}
          onCollapse={actions.onCollapse}
          onNew={actions.onNew}
        >
          {room === null ? (
            <Chats services={services} openId={chatId} onOpen={actions.open} onNew={actions.onNew} />
          ) : (
            <RoomList panel={room} onLeave={() => actions.open(chatId)} />
          )}
        </Sidebar>
        <main className="flex min-w-0 flex-1 flex-col">
          <Header
            room={room}
            onMenu={() => setMenuOpen(true)}
            onNew={actions.onNew}
            onSidebar={isCollapsed ? actions.onShow : null}
            isWorkbenchOpen={room === null ? panel !== null : null}
            onWorkbench={actions.onWorkbench}
            onKeys={actions.onHelp}
          >
            <Waiting services={services} onOpen={actions.open} />
          </Header>
          {room === null ? (
            <ErrorBoundary key={session.id} fallback={<BrokenChat onStop={actions.onStop} onNew={actions.onNew} />}>
              <ChatPage
                composer={composer}
                isStopAsked={isStopAsked}
                target={route.kind === "chat" ? route.messageId : null}
                onStarted={() => keepAddress(session)}
                onNew={actions.onNew}
                onInspect={actions.onInspect}
                onSchedules={() => setPanel("schedules")}
              />
            </ErrorBoundary>
          ) : (
            <Room panel={room} {...panelProps} />
          )}
        </main>
        {panel === null ? null : (
          <Suspense fallback={null}>
            <Workbench panel={panel} onClose={closePanel} {...panelProps} onPanel={setPanel} />
          </Suspense>
        )}
      </div>
      {above === null ? null : (
        <Suspense fallback={null}>
          <Overlay shown={above} services={services} actions={actions} onClose={() => setAbove(null)} />
        </Suspense>
      )}
    </ChatContext>
  );
}

type HeaderProps = Omit<React.ComponentProps<typeof TopBar>, "title"> & { room: PanelName | null };

function Header({ room, ...props }: HeaderProps) {
  const t = useText();
  const { title } = useChatSession();
  return <TopBar {...props} title={room === null ? title : t.panelTitles[room]} />;
}

/** All keys of the page, Escape with care; returns whether one more Escape stops the answer. */
function useAllKeys(actions: KeyActions, session: ChatSession, panel: PanelName | null, closePanel: () => void) {
  const { onEscape, isArmed } = useStopKey(session, panel === null ? null : closePanel);
  useKeys(useMemo(() => ({ ...actions, onStop: onEscape }), [actions, onEscape]));
  return isArmed;
}

/** The address of a chat that has got its first message. */
function keepAddress(session: ChatSession): void {
  navigate({ kind: "chat", sessionId: session.id, messageId: null }, "replace");
}

/** The chat in the address, and in the control room the one that was open before. */
function useChatId(route: Route): string | null {
  const last = useRef<string | null>(null);
  if (route.kind === "chat") last.current = route.sessionId;
  return last.current;
}

/** After a reload the opened pages are shown again where there is room for them. */
function firstPanel(services: Services): PanelName | null {
  return services.stack.read().items.length > 0 && matchMedia("(width >= 64rem)").matches ? "pages" : null;
}

/** Brings the pages to the front when a tool has opened one. */
function useOpenedPages(services: Services, onOpened: () => void): void {
  const { opened } = useStore(services.stack);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a newly opened page matters
  useEffect(() => {
    if (opened > 0) onOpened();
  }, [opened]);
}
