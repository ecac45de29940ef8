// The states of a learning rate: where it rises, stays and falls, as a person would name them.
import { finite, real, type Series } from "./data";

export interface Band { kind: "warmup" | "rising" | "constant" | "decay"; from: number; to: number }
const MOST = 9; // a cyclic rate has hundreds: bands would say nothing

export function bands(rate: Series | undefined): Band[] {
  if (!rate) return [];
  const points = rate.x.flatMap((x, n) => (finite(rate.y[n]) ? [[x, real(rate.y[n])!] as const] : []));
  if (points.length < 8) return [];
  const span = points.at(-1)![0] - points[0][0];
  let found: { turn: number; from: number; to: number }[] = [];
  for (let n = 1; n < points.length; n++) {
    const [before, now] = [points[n - 1][1], points[n][1]];
    const turn = Math.abs(now - before) <= 1e-9 * Math.max(Math.abs(now), Math.abs(before)) ? 0 : Math.sign(now - before);
    const last = found.at(-1);
    if (last?.turn === turn) last.to = points[n][0];
    else found.push({ turn, from: points[n - 1][0], to: points[n][0] });
  }
  // a rate that falls in stairs falls: what is shorter than a hundredth of the run belongs to what is around it
  found = found.filter((one) => one.to - one.from > 0.01 * span);
  const merged: typeof found = [];
  for (const one of found) {
    const last = merged.at(-1);
    if (last?.turn === one.turn) last.to = one.to;
    else merged.push({ ...one, from: last?.to ?? one.from });
  }
  if (merged.length > MOST || merged.every((one) => one.turn === 0)) return [];
  return merged.map((one, n) => ({ kind: one.turn > 0 ? (n === 0 ? "warmup" : "rising") : one.turn < 0 ? "decay" : "constant", from: one.from, to: one.to }));
}
