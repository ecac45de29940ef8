// The page of a run as it is now: what was in the file, and, where a server stands behind it, what came since.
import { lastOf, opening, type Page } from "./data";
import { chosen } from "./state.svelte";

export type Link = "file" | "open" | "lost" | "gone";

// A stream of the server: the browser takes it up again by itself, but for an answer that is an error.
export function follow(path: () => string, heard: (name: string, data: string, id: string) => void, linked: (link: Link) => void): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  function open() {
    source = new EventSource(path());
    for (const name of ["panels", "runs", "alive"]) {
      source.addEventListener(name, (event) => { linked("open"); heard(name, (event as MessageEvent).data, (event as MessageEvent).lastEventId); });
    }
    source.addEventListener("gone", () => { ended = true; source?.close(); linked("gone"); });
    source.onerror = () => {
      if (ended) return;
      linked("lost");
      if (source?.readyState === EventSource.CLOSED) { clearTimeout(timer); timer = setTimeout(open, 3000); }
    };
  }
  open();
  return () => { ended = true; clearTimeout(timer); source?.close(); };
}

export class Live {
  page = $state.raw() as Page;
  link = $state<Link>("file");
  now = $state(0);
  #skew = 0;

  constructor(page: Page) {
    this.page = page;
    if (page.live) this.clock(page.live.now);
  }
  // the server's clock, in seconds: that of this browser may be another
  clock(now: number) { this.#skew = now - Date.now() / 1000; this.tick(); }
  tick() { this.now = Date.now() / 1000 + this.#skew; }

  connect(): () => void {
    if (!this.page.live) return () => {};
    let mark = this.page.version ?? "";
    const timer = setInterval(() => this.tick(), 1000);
    const stop = follow(
      () => `${location.pathname}/stream?since=${encodeURIComponent(mark)}`,
      (name, data, id) => {
        if (id) mark = id;
        const { now, ...panels } = JSON.parse(data);
        this.clock(now);
        if (name === "panels") this.take(panels);
      },
      (link) => (this.link = link),
    );
    return () => { clearInterval(timer); stop(); };
  }

  take(panels: Partial<Page>) {
    const before = this.page, newest = chosen.step >= chosen.last;
    this.page = { ...before, ...panels };
    chosen.last = lastOf(this.page);
    if (panels.ops) chosen.op = opening(this.page.ops);
    if (this.page.focus !== null && this.page.focus !== before.focus) chosen.go(this.page.focus);
    else if (newest) chosen.go(chosen.last);
  }
}
