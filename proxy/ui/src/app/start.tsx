import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "../style/tokens.css";
import "../style/base.css";
import { App } from "./App";
import { applyAppearance } from "./appearance";
import { prefetchPage } from "./prefetch";

function render() {
  const root = document.getElementById("app");
  if (root === null) return;
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

applyAppearance();
void prefetchPage().then(render);
