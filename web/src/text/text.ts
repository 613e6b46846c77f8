/** The language of the page and its texts. */

import { createContext, useContext } from "react";
import { en, type Text } from "@/text/en";
import { zh } from "@/text/zh";

export type Language = "en" | "zh";
export type { Text } from "@/text/en";

export const LANGUAGES: Record<Language, { name: string; text: Text; locale: string }> = {
  en: { name: "English", text: en, locale: "en" },
  zh: { name: "中文", text: zh, locale: "zh-CN" },
};

export const LanguageContext = createContext<Language>("en");

export function useLanguage(): Language {
  return useContext(LanguageContext);
}

export function useText(): Text {
  return LANGUAGES[useLanguage()].text;
}

/** The language that was chosen before, otherwise the browser's. */
export function initialLanguage(): Language {
  const chosen = localStorage.getItem("dovetail.language");
  if (chosen === "en" || chosen === "zh") return chosen;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}
