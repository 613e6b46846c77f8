/** The commands of the palette. */

import { type PanelName, panelsOf, ROOM_GROUPS, WORKBENCH_PANELS } from "@/app/panels";
import { openRoom } from "@/app/route";
import type { Services } from "@/app/services";
import { keysOf } from "@/app/shortcuts";
import type { Command } from "@/features/palette/find";
import { LANGUAGES, type Language, type Text } from "@/text/text";

export interface PageActions {
  open: (id: string | null) => void;
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
    ...services.sessions.all.map((session) => ({
      id: `session-${session.id}`,
      name: session.title || t.untitled,
      run: () => actions.open(session.id),
    })),
  ];
}
