/** How this browser shows the page: its language and its theme, kept for the next visit. */

import { applyTheme, storedTheme, type Theme } from "@/features/settings/theme";
import { initialLanguage, type Language, loadLanguage } from "@/text/text";
import { Store } from "@/ui/store";

export class Preferences extends Store<{ language: Language; theme: Theme }> {
  constructor() {
    super({ language: initialLanguage(), theme: storedTheme() });
  }

  /** Loads a language and shows the page in it; the present one stays if it cannot be loaded. */
  async chooseLanguage(language: Language): Promise<void> {
    await loadLanguage(language).then(
      () => {
        localStorage.setItem("dovetail.language", language);
        this.change({ language });
      },
      () => undefined,
    );
  }

  chooseTheme(theme: Theme): void {
    applyTheme(theme);
    this.change({ theme });
  }
}
