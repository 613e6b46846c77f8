/** What the palette offers: the commands of the page, and a search in the chats. */

import { type PanelName, panelsOf, ROOM_GROUPS, WORKBENCH_PANELS } from "@/app/panels";
import { openRoom } from "@/app/route";
import type { Services } from "@/app/services";
import { keysOf } from "@/app/shortcuts";
import type { Command } from "@/features/palette/find";
import type { SessionSummary } from "@/protocol/session";
import { LANGUAGES, type Language, type Text } from "@/text/text";
import { listSessions } from "@/transport/api";

export interface PageActions {
  open: (id: string | null, messageId?: string) => void;
  onNew: () => void;
  onFocus: () => void;
  onStop: () => void;
  onSidebar: () => void;
  onHelp: () => void;
  onPanel: (panel: PanelName) => void;
}

export function makeCommands(services: Services, actions: PageActions, t: Text): Command[] {
  const panels = WORKBENCH_PANELS.filter((name) => name !== "pages" || services.stack.read().items.length > 0);
  const owner = services.owner.read().name;
  return [
    { id: "new", name: t.newChat, keys: keysOf("onNew"), run: actions.onNew },
    { id: "sidebar", name: t.toggleSidebar, keys: keysOf("onSidebar"), run: actions.onSidebar },
    { id: "focus", name: t.focusMessage, keys: keysOf("onFocus"), run: actions.onFocus },
    { id: "help", name: t.keyboardHelp, keys: keysOf("onHelp"), run: actions.onHelp },
    { id: "stop", name: t.stopRun, keys: keysOf("onStop"), run: actions.onStop },
    ...panels.map((name) => ({
      id: `panel-${name}`,
      name: `${t.workbench}: ${t.panelTitles[name]}`,
      run: () => actions.onPanel(name),
    })),
    ...ROOM_GROUPS.flatMap(panelsOf).map((name) => ({
      id: `room-${name}`,
      name: `${t.controlRoom}: ${t.panelTitles[name]}`,
      run: () => openRoom(name),
    })),
    { id: "light", name: `${t.theme}: ${t.themeLight}`, run: () => services.preferences.chooseTheme("light") },
    { id: "dark", name: `${t.theme}: ${t.themeDark}`, run: () => services.preferences.chooseTheme("dark") },
    { id: "system", name: `${t.theme}: ${t.themeSystem}`, run: () => services.preferences.chooseTheme("system") },
    ...(Object.keys(LANGUAGES) as Language[]).map((language) => ({
      id: `language-${language}`,
      name: `${t.language}: ${LANGUAGES[language].name}`,
      run: () => void services.preferences.chooseLanguage(language),
    })),
    ...(owner === null ? [] : [{ id: "sign-out", name: t.signOut(owner), run: () => void services.owner.leave() }]),
    ...services.sessions.all.map((session) => openSession(session, actions, t)),
  ];
}

function openSession({ id, title }: SessionSummary, actions: PageActions, t: Text): Command {
  return { id: `session-${id}`, name: title || t.untitled, run: () => actions.open(id) };
}

/** The chats whose titles contain a text, and the messages that do, which their places lead to. */
export async function searchChats(query: string, actions: PageActions, t: Text): Promise<Command[]> {
  const { sessions } = await listSessions({ query });
  const isNamed = ({ title }: SessionSummary) => title.toLowerCase().includes(query.toLowerCase());
  const places = sessions.flatMap(({ id, title, places }) =>
    places.map(({ messageId, text }) => ({
      id: `message-${id}-${messageId}`,
      name: title || t.untitled,
      snippet: text,
      run: () => actions.open(id, messageId),
    })),
  );
  return [...sessions.filter(isNamed).map((session) => openSession(session, actions, t)), ...places];
}
