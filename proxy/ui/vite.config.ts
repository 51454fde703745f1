import { readFileSync } from "node:fs";
import optimizeLocales from "@react-aria/optimize-locales-plugin";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** The service that `npm run dev` asks: that of `make run`, unless the environment names another. */
const service = process.env.KEYED_SERVICE ?? "http://127.0.0.1:8080";
const served = ["/v1", "/api/v1", "/openapi.json", "/healthz", "/readyz"];

const version = JSON.parse(readFileSync("package.json", "utf8")).version;

/** Lets the browser load the application while it runs the entry, which only sends the first requests. */
const preloadApplication: Plugin = {
  name: "preload-application",
  transformIndexHtml: {
    order: "post",
    handler: (_, { bundle }) =>
      Object.values(bundle ?? {}).flatMap((chunk) => {
        if (chunk.type !== "chunk" || chunk.name !== "application") return [];
        const styles = [...(chunk.viteMetadata?.importedCss ?? [])];
        const link = (rel: string, file: string) => ({
          tag: "link",
          attrs: { rel, crossorigin: true, href: `/${file}` },
          injectTo: "head" as const,
        });
        const scripts = [chunk.fileName, ...chunk.imports.filter((file) => bundle?.[file]?.name !== "index")];
        return [
          ...scripts.map((file) => link("modulepreload", file)),
          ...styles.map((file) => link("stylesheet", file)),
        ];
      }),
  },
};

export default defineConfig({
  plugins: [react(), preloadApplication, { ...optimizeLocales.vite({ locales: ["en-US"] }), enforce: "pre" }],
  define: { __VERSION__: JSON.stringify(version) },
  // The manifest is for firstPage.test.ts; the service serves only assets/ and the page.
  build: {
    target: "es2022",
    assetsDir: "assets",
    manifest: true,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "entry", tags: ["$initial"], priority: 2 },
            // The first page loads one file instead of forty.
            { name: "application", test: /src\/app\/start\.tsx$/, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: Object.fromEntries(served.map((path) => [path, service])) },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
