/** The language of the page and its texts. English is always there, another language is loaded when it is chosen. */

import { createContext, useContext } from "react";
import { en, type Text } from "@/text/en";

export type Language = "en" | "zh";
export type { Text } from "@/text/en";

export const LANGUAGES: Record<Language, { name: string; locale: string; load: () => Promise<Text> }> = {
  en: { name: "English", locale: "en", load: async () => en },
  zh: { name: "中文", locale: "zh-CN", load: async () => (await import("@/text/zh")).zh },
};

const loaded = new Map<Language, Text>([["en", en]]);

/** Loads a language; its texts are there at once afterwards. */
export async function loadLanguage(language: Language): Promise<Text> {
  const text = loaded.get(language) ?? (await LANGUAGES[language].load());
  loaded.set(language, text);
  return text;
}

/** The texts in a language that was loaded, otherwise in English. */
export function textIn(language: Language): Text {
  return loaded.get(language) ?? en;
}

export const LanguageContext = createContext<Language>("en");

export function useLanguage(): Language {
  return useContext(LanguageContext);
}

export function useText(): Text {
  return textIn(useLanguage());
}

/** The title of a tool or an agent: that of a shipped one in the language of the text, any other as it is. */
export function titleIn(t: Text, title: string): string {
  return t.shippedTitles[title] ?? title;
}

/** The language that was chosen before, otherwise the browser's. */
export function initialLanguage(): Language {
  const chosen = localStorage.getItem("dovetail.language");
  if (chosen === "en" || chosen === "zh") return chosen;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}
