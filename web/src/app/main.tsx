import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { BrokenPage } from "@/app/broken-page";
import { Services } from "@/app/services";
import { guardPage } from "@/features/chat/use-incoming-files";
import { followSystemTheme } from "@/features/settings/theme";
import { initialLanguage, loadLanguage } from "@/text/text";
import { ErrorBoundary } from "@/ui/error-boundary";
import "@/app/styles.css";

followSystemTheme();
guardPage();

// In English if the language cannot be loaded.
await loadLanguage(initialLanguage()).catch(() => undefined);

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <ErrorBoundary fallback={<BrokenPage />}>
        <App services={new Services()} />
      </ErrorBoundary>
    </StrictMode>,
  );
}
