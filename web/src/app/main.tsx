import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { Services } from "@/app/services";
import { followSystemTheme } from "@/app/theme";
import "@/app/styles.css";

followSystemTheme();

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App services={new Services()} />
    </StrictMode>,
  );
}
