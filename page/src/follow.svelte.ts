// The step that a panel shows: while it is near the view the chosen one, else that of the last rest, so that a scrub draws only what is seen.
import { chosen } from "./state.svelte";

const REST_MS = 120;

export function follower(panel: string): { readonly step: number } {
  let near = $state(true);
  let rested = $state(chosen.step);
  $effect(() => {
    const section = document.getElementById(panel);
    if (!section) return;
    const watcher = new IntersectionObserver((seen) => { near = seen.at(-1)!.isIntersecting; }, { rootMargin: "120px" });
    watcher.observe(section);
    return () => watcher.disconnect();
  });
  $effect(() => {
    const wanted = chosen.step;
    if (near) { rested = wanted; return; }
    const timer = setTimeout(() => { rested = wanted; }, REST_MS);
    return () => clearTimeout(timer);
  });
  return { get step() { return near ? chosen.step : rested; } };
}
