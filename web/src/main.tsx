import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { cache } from "./api/cache";
import { start } from "./api/live";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/board.css";
import "./styles/task.css";
import "./styles/pulls.css";
import "./styles/pages.css";
import "./styles/flows.css";

start();
const root = document.getElementById("root");
if (root) createRoot(root).render(<StrictMode><QueryClientProvider client={cache}><App /></QueryClientProvider></StrictMode>);
