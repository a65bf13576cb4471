import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// For `npm run dev`, COPPICE_URL names a running server. Its cookie is bound to
// its own address, so the token of its state directory is passed on instead.
const target = process.env.COPPICE_URL ?? "http://127.0.0.1:4040";
const token = process.env.COPPICE_DEV_TOKEN;

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
  },
  server: {
    proxy: {
      "/api": { target, changeOrigin: true, ws: true, headers: token ? { Authorization: `Bearer ${token}`, Origin: target } : {} },
    },
  },
});
