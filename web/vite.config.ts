import { defineConfig } from "vite";

// One page, one script, one style: volvox reads them at its start and serves nothing else.
export default defineConfig({
  base: "./",
  build: { outDir: "dist", emptyOutDir: true, chunkSizeWarningLimit: 1500, target: "es2022" },
});
