import {
  Check,
  Keyboard,
  LogOut,
  Menu as MenuIcon,
  PanelLeftOpen,
  PanelRight,
  Settings2,
  SquarePen,
} from "lucide-react";
import type { ReactNode } from "react";
import { openRoom } from "@/app/route";
import { useServices } from "@/app/services";
import type { Theme } from "@/features/settings/theme";
import { LANGUAGES, type Language, useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { Menu, MenuHeading, MenuItem } from "@/ui/menu";
import { useStore } from "@/ui/store";

interface TopBarProps {
  title: string;
  onMenu: () => void;
  onNew: () => void;
  /** Shows the hidden column on the left; null if it is there. */
  onSidebar: (() => void) | null;
  /** Null where there is no workbench. */
  isWorkbenchOpen: boolean | null;
  onWorkbench: () => void;
  onKeys: () => void;
  /** After the title. */
  children?: ReactNode;
}

export function TopBar(props: TopBarProps) {
  const { title, onMenu, onNew, onSidebar, isWorkbenchOpen, onWorkbench, onKeys, children } = props;
  const t = useText();
  return (
    <header className="flex h-14 shrink-0 items-center gap-1 px-3">
      <IconButton label={t.openMenu} onClick={onMenu} className="md:hidden">
        <MenuIcon size={18} />
      </IconButton>
      {onSidebar === null ? null : (
        <IconButton label={t.showSidebar} onClick={onSidebar} className="max-md:hidden">
          <PanelLeftOpen size={17} />
        </IconButton>
      )}
      <h1 className="min-w-0 flex-1 truncate px-2 text-[14px] font-medium text-soft">{title}</h1>
      {children}
      <IconButton label={t.newChat} onClick={onNew} className="md:hidden">
        <SquarePen size={17} />
      </IconButton>
      <SettingsMenu onKeys={onKeys} />
      {isWorkbenchOpen === null ? null : (
        <IconButton
          label={isWorkbenchOpen ? t.closeWorkbench : t.openWorkbench}
          aria-expanded={isWorkbenchOpen}
          onClick={onWorkbench}
        >
          <PanelRight size={17} />
        </IconButton>
      )}
    </header>
  );
}

function SettingsMenu({ onKeys }: Pick<TopBarProps, "onKeys">) {
  const t = useText();
  const { owner, preferences } = useServices();
  const { name: ownerName } = useStore(owner);
  const { language, theme } = useStore(preferences);
  const themes: Array<[Theme, string]> = [
    ["system", t.themeSystem],
    ["light", t.themeLight],
    ["dark", t.themeDark],
  ];
  return (
    <Menu label={t.settings} face={<Settings2 size={17} />}>
      <MenuHeading>{t.theme}</MenuHeading>
      {themes.map(([choice, name]) => (
        <MenuItem key={choice} onSelect={() => preferences.chooseTheme(choice)}>
          <Mark isOn={choice === theme} /> {name}
        </MenuItem>
      ))}
      <MenuHeading>{t.language}</MenuHeading>
      {(Object.keys(LANGUAGES) as Language[]).map((choice) => (
        <MenuItem key={choice} onSelect={() => void preferences.chooseLanguage(choice)}>
          <Mark isOn={choice === language} /> <span lang={LANGUAGES[choice].locale}>{LANGUAGES[choice].name}</span>
        </MenuItem>
      ))}
      <div className="mt-1 max-w-72 border-t border-line pt-1">
        <MenuItem onSelect={onKeys}>
          <Keyboard size={14} aria-hidden="true" className="shrink-0" /> {t.keyboardHelp}
        </MenuItem>
        <MenuItem onSelect={() => openRoom("settings")}>
          <Settings2 size={14} aria-hidden="true" className="shrink-0" /> {t.allSettings}
        </MenuItem>
        {ownerName === null ? null : (
          <MenuItem onSelect={() => void owner.leave()}>
            <LogOut size={14} aria-hidden="true" className="shrink-0" />
            <span className="truncate">{t.signOut(ownerName)}</span>
          </MenuItem>
        )}
      </div>
    </Menu>
  );
}

function Mark({ isOn }: { isOn: boolean }) {
  return <Check size={14} aria-hidden="true" className={isOn ? "text-accent" : "invisible"} />;
}
