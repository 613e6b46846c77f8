/** Light, dark, or as the system has it. */

export type Theme = "system" | "light" | "dark";

const KEY = "dovetail.theme";
const systemIsDark = () => matchMedia("(prefers-color-scheme: dark)");

export function storedTheme(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  const isDark = theme === "dark" || (theme === "system" && systemIsDark().matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

/** Follows the system while nothing else was chosen. */
export function followSystemTheme(): void {
  systemIsDark().addEventListener("change", () => applyTheme(storedTheme()));
}
