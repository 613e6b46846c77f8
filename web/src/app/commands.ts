/** The commands of the palette. */

import type { Services } from "@/app/services";
import { applyTheme } from "@/app/theme";
import { keysText } from "@/app/use-keys";
import { PANELS, type PanelName } from "@/app/workbench";
import type { Command } from "@/features/palette/find";
import { LANGUAGES, type Language, type Text } from "@/text/text";

export interface PageActions {
  open: (id: string | null) => void;
  onNew: () => void;
  onFocus: () => void;
  onStop: () => void;
  onPanel: (panel: PanelName) => void;
}

export function makeCommands(
  services: Services,
  actions: PageActions,
  onLanguage: (language: Language) => void,
  t: Text,
): Command[] {
  const panels = PANELS.filter((name) => name !== "pages" || services.stack.read().items.length > 0);
  const owner = services.owner.read().name;
  return [
    { id: "new", name: t.newChat, keys: keysText("O", true), run: actions.onNew },
    { id: "focus", name: t.focusMessage, keys: "/", run: actions.onFocus },
    { id: "stop", name: t.stopRun, keys: "Esc", run: actions.onStop },
    ...panels.map((name) => ({
      id: `panel-${name}`,
      name: `${t.workbench}: ${t[name]}`,
      run: () => actions.onPanel(name),
    })),
    { id: "light", name: `${t.theme}: ${t.themeLight}`, run: () => applyTheme("light") },
    { id: "dark", name: `${t.theme}: ${t.themeDark}`, run: () => applyTheme("dark") },
    { id: "system", name: `${t.theme}: ${t.themeSystem}`, run: () => applyTheme("system") },
    ...(Object.keys(LANGUAGES) as Language[]).map((language) => ({
      id: `language-${language}`,
      name: `${t.language}: ${LANGUAGES[language].name}`,
      run: () => onLanguage(language),
    })),
    ...(owner === null ? [] : [{ id: "sign-out", name: t.signOut(owner), run: () => void services.owner.leave() }]),
    ...services.sessions.read().sessions.map((session) => ({
      id: `session-${session.id}`,
      name: session.title || t.untitled,
      run: () => actions.open(session.id),
    })),
  ];
}
