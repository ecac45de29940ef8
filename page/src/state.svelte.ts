// What the person has chosen: the step that every panel follows, the op, the language, the theme; kept in the address.
import { words, type Language } from "./strings";

export const PANELS = ["verdict", "timeline", "layers", "model", "ops", "findings", "checks", "usage", "ranks"] as const;
export type Panel = (typeof PANELS)[number];

const stored = (name: string): string | null => {
  try { return localStorage.getItem(name); } catch { return null; } // file:// may have no storage
};
const store = (name: string, value: string) => {
  try { localStorage.setItem(name, value); } catch { /* the choice lasts as long as the page */ }
};
const languageHere = (): Language =>
  (stored("debug-tracer.language") as Language | null) ?? (navigator.language?.startsWith("zh") ? "zh" : "en");

class Chosen {
  step = $state(0);
  last = $state(0);
  playing = $state(false);
  op = $state(0);
  tensor = $state<{ map: string; row: number } | null>(null); // asked for from another panel: the heat map shows it
  panel = $state<Panel>("verdict");
  language = $state<Language>(languageHere());
  theme = $state<"light" | "dark">(
    (stored("debug-tracer.theme") as "light" | "dark" | null) ??
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"),
  );

  get t() { return words[this.language]; }

  go(step: number) { this.step = Math.min(Math.max(0, Math.round(step)), this.last); }

  setTheme(theme: "light" | "dark") {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    store("debug-tracer.theme", theme);
  }
  setLanguage(language: Language) {
    this.language = language;
    document.documentElement.lang = language;
    store("debug-tracer.language", language);
  }

  // #STEP/PANEL, of the ops panel #STEP/ops/OP
  read(hash: string): boolean {
    const [step, panel, op] = hash.replace(/^#/, "").split("/");
    if (!/^\d+$/.test(step)) return false;
    this.go(Number(step));
    if ((PANELS as readonly string[]).includes(panel)) this.panel = panel as Panel;
    if (/^\d+$/.test(op ?? "")) this.op = Number(op);
    return true;
  }
  get hash() { return `#${this.step}/${this.panel}${this.panel === "ops" ? `/${this.op}` : ""}`; }
}

export const chosen = new Chosen();
