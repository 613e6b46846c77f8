/** Light, dark, or the system's theme. */

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

/** Follows the system unless a theme was chosen. */
export function followSystemTheme(): void {
  systemIsDark().addEventListener("change", () => applyTheme(storedTheme()));
}
