import { readFileSync } from "node:fs";
import optimizeLocales from "@react-aria/optimize-locales-plugin";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** The service that `npm run dev` asks: that of `make run`, unless the environment names another. */
const service = process.env.KEYED_SERVICE ?? "http://127.0.0.1:8080";
const served = ["/v1", "/api/v1", "/openapi.json", "/healthz", "/readyz"];

const version = JSON.parse(readFileSync("package.json", "utf8")).version;

export default defineConfig({
  plugins: [react(), { ...optimizeLocales.vite({ locales: ["en-US"] }), enforce: "pre" }],
  define: { __VERSION__: JSON.stringify(version) },
  // The manifest is for firstPage.test.ts; the service serves assets/ and the page alone.
  build: { target: "es2022", assetsDir: "assets", manifest: true, modulePreload: { polyfill: false } },
  server: { proxy: Object.fromEntries(served.map((path) => [path, service])) },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
