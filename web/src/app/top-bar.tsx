import { Check, LogOut, Menu as MenuIcon, PanelRight, Settings2, SquarePen } from "lucide-react";
import { useState } from "react";
import { useServices } from "@/app/services";
import { applyTheme, storedTheme, type Theme } from "@/app/theme";
import { useChatSession } from "@/features/chat/use-chat";
import { LANGUAGES, type Language, useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { Menu, MenuHeading, MenuItem } from "@/ui/menu";
import { useStore } from "@/ui/store";

interface TopBarProps {
  onMenu: () => void;
  onNew: () => void;
  isWorkbenchOpen: boolean;
  onWorkbench: () => void;
  language: Language;
  onLanguage: (language: Language) => void;
}

export function TopBar({ onMenu, onNew, isWorkbenchOpen, onWorkbench, language, onLanguage }: TopBarProps) {
  const t = useText();
  const { title } = useChatSession();
  return (
    <header className="flex h-14 shrink-0 items-center gap-1 px-3">
      <IconButton label={t.openMenu} onClick={onMenu} className="md:hidden">
        <MenuIcon size={18} />
      </IconButton>
      <h1 className="min-w-0 flex-1 truncate px-2 text-[14px] font-medium text-soft">{title}</h1>
      <IconButton label={t.newChat} onClick={onNew} className="md:hidden">
        <SquarePen size={17} />
      </IconButton>
      <SettingsMenu language={language} onLanguage={onLanguage} />
      <IconButton
        label={isWorkbenchOpen ? t.closeWorkbench : t.openWorkbench}
        aria-expanded={isWorkbenchOpen}
        onClick={onWorkbench}
      >
        <PanelRight size={17} />
      </IconButton>
    </header>
  );
}

function SettingsMenu({ language, onLanguage }: Pick<TopBarProps, "language" | "onLanguage">) {
  const t = useText();
  const { owner } = useServices();
  const { name: ownerName } = useStore(owner);
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const themes: Array<[Theme, string]> = [
    ["system", t.themeSystem],
    ["light", t.themeLight],
    ["dark", t.themeDark],
  ];
  const choose = (choice: Theme) => {
    setTheme(choice);
    applyTheme(choice);
  };
  return (
    <Menu label={t.settings} face={<Settings2 size={17} />}>
      <MenuHeading>{t.theme}</MenuHeading>
      {themes.map(([choice, name]) => (
        <MenuItem key={choice} onSelect={() => choose(choice)}>
          <Mark isOn={choice === theme} /> {name}
        </MenuItem>
      ))}
      <MenuHeading>{t.language}</MenuHeading>
      {(Object.keys(LANGUAGES) as Language[]).map((choice) => (
        <MenuItem key={choice} onSelect={() => onLanguage(choice)}>
          <Mark isOn={choice === language} /> <span lang={LANGUAGES[choice].locale}>{LANGUAGES[choice].name}</span>
        </MenuItem>
      ))}
      {ownerName === null ? null : (
        <div className="mt-1 max-w-72 border-t border-line pt-1">
          <MenuItem onSelect={() => void owner.leave()}>
            <LogOut size={14} aria-hidden="true" className="shrink-0" />
            <span className="truncate">{t.signOut(ownerName)}</span>
          </MenuItem>
        </div>
      )}
    </Menu>
  );
}

function Mark({ isOn }: { isOn: boolean }) {
  return <Check size={14} aria-hidden="true" className={isOn ? "text-accent" : "invisible"} />;
}
