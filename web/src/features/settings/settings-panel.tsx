import { type ReactNode, useId } from "react";
import type { Preferences } from "@/features/settings/preferences";
import type { Theme } from "@/features/settings/theme";
import { LANGUAGES, type Language, useText } from "@/text/text";
import { Button } from "@/ui/button";
import { PanelBody } from "@/ui/panel";
import { useStore } from "@/ui/store";

interface SettingsPanelProps {
  preferences: Preferences;
  /** The owner's name, if the server requires signing in. */
  ownerName: string | null;
  onSignOut: () => void;
  onKeys: () => void;
  /** Notifications and sound. */
  children?: ReactNode;
}

/** What can be set in this browser. */
export function SettingsPanel({ preferences, ownerName, onSignOut, onKeys, children }: SettingsPanelProps) {
  const t = useText();
  const { language, theme } = useStore(preferences);
  const themes: Array<[Theme, string]> = [
    ["system", t.themeSystem],
    ["light", t.themeLight],
    ["dark", t.themeDark],
  ];
  return (
    <PanelBody hint={t.settingsHint}>
      <div className="max-w-140 space-y-8 pt-2">
        <Group title={t.appearance}>
          <Choices
            name={t.theme}
            chosen={theme}
            choices={themes}
            onChoose={(choice) => preferences.chooseTheme(choice)}
          />
          <Choices
            name={t.language}
            chosen={language}
            choices={(Object.keys(LANGUAGES) as Language[]).map((one) => [one, LANGUAGES[one].name])}
            onChoose={(choice) => void preferences.chooseLanguage(choice)}
          />
        </Group>
        {children ? <Group title={t.notifications}>{children}</Group> : null}
        <Group title={t.keyboard}>
          <Button onClick={onKeys}>{t.keyboardHelp}</Button>
        </Group>
        {ownerName === null ? null : (
          <Group title={t.account}>
            <Button onClick={onSignOut}>{t.signOut(ownerName)}</Button>
          </Group>
        )}
      </div>
    </PanelBody>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="mb-3 border-b border-line pb-1.5 text-[14px] font-semibold">
        {title}
      </h2>
      <div className="space-y-4">{children}</div>
    </section>
  );
}

interface ChoicesProps<Value extends string> {
  name: string;
  chosen: Value;
  choices: ReadonlyArray<readonly [Value, string]>;
  onChoose: (value: Value) => void;
}

/** One of a few, all in sight. */
function Choices<Value extends string>({ name, chosen, choices, onChoose }: ChoicesProps<Value>) {
  const group = useId();
  return (
    <fieldset className="flex flex-wrap items-center justify-between gap-3 text-[13px]">
      <legend className="float-left font-medium">{name}</legend>
      <div className="flex rounded-lg bg-sunken p-0.5">
        {choices.map(([value, label]) => (
          <label
            key={value}
            className="cursor-pointer rounded-md px-3 py-1 text-soft has-checked:bg-surface has-checked:font-medium has-checked:text-ink has-checked:shadow-float has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={group}
              value={value}
              checked={value === chosen}
              onChange={() => onChoose(value)}
              className="sr-only"
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
