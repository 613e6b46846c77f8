import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { BrokenPage } from "@/app/broken-page";
import { Services } from "@/app/services";
import { followSystemTheme } from "@/app/theme";
import { ErrorBoundary } from "@/ui/error-boundary";
import "@/app/styles.css";

followSystemTheme();

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
