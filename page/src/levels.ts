// The words of a heat map's cell, and the colours they get.
import { bytes, type HeatMap, type Layers } from "./data";

export const MISSING = 0, ZERO = 1, BAD = 65535;

// `at`: the columns that hold the map, places among the steps of all; the others are missing
export interface Levels { words: Uint16Array; bad: Uint8Array | null; columns: number; at: number[]; low: number; high: number }

export function unpacked(map: HeatMap, layers: Layers): Levels {
  const columns = layers.steps.length, at = map.at ?? layers.steps.map((_, n) => n);
  const words = spread(new Uint16Array(bytes(map.levels).buffer), map.rows.length, at, columns);
  const counts = new Map<number, number>();
  for (const word of words) if (word > ZERO && word < BAD) counts.set(word, (counts.get(word) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => a[0] - b[0]);
  const total = sorted.reduce((sum, [, n]) => sum + n, 0);
  // the middle 96 % of the cells have the whole range of colours: one wild tensor must not make the others alike
  const place = (share: number) => { let sum = 0; for (const [word, n] of sorted) { sum += n; if (sum >= share * total) return word; } return 2; };
  const [low, high] = [place(0.02), place(0.98)];
  return { words, bad: map.bad ? spread(bytes(map.bad), map.rows.length, at, columns) : null, columns, at, low, high: Math.max(high, low + 1) };
}

// a map of its own columns as one of all
function spread<T extends Uint16Array | Uint8Array>(packed: T, rows: number, at: number[], columns: number): T {
  if (at.length === columns) return packed;
  const whole = new (packed.constructor as new (size: number) => T)(rows * columns);
  for (let row = 0; row < rows; row++) for (let n = 0; n < at.length; n++) whole[row * columns + at[n]] = packed[row * at.length + n];
  return whole;
}

export function value(word: number, layers: Layers): number | null {
  if (word === MISSING) return null;
  if (word === ZERO) return 0;
  if (word === BAD) return NaN;
  return 10 ** (layers.least + ((word - 2) / (BAD - 3)) * (layers.greatest - layers.least));
}

// The same of all words at once: what is missing or not finite is NaN.
const tables = new WeakMap<Layers, Float64Array>();
export function numbers(layers: Layers): Float64Array {
  let table = tables.get(layers);
  if (!table) tables.set(layers, (table = Float64Array.from({ length: BAD + 1 }, (_, word) => value(word, layers) ?? NaN)));
  return table;
}

// cividis: the same order of brightness for everybody
const STOPS = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [253, 231, 55]];
export const RAMP = Uint32Array.from({ length: 256 }, (_, n) => {
  const at = (n / 255) * (STOPS.length - 1), from = Math.min(Math.floor(at), STOPS.length - 2), share = at - from;
  const [r, g, b] = STOPS[from].map((c, k) => Math.round(c + share * (STOPS[from + 1][k] - c)));
  return (255 << 24) | (b << 16) | (g << 8) | r;
});
// the same for a style
export const STYLES = Array.from(RAMP, (word) => `rgb(${word & 255} ${(word >> 8) & 255} ${(word >> 16) & 255})`);
export const RED = ((255 << 24) | (30 << 16) | (50 << 8) | 235) >>> 0;

export function painted(map: HeatMap, levels: Levels, missing: number): ImageData {
  const { words, bad, columns, at, low, high } = levels;
  const image = new ImageData(Math.max(1, at.length), Math.max(1, map.rows.length));
  const pixels = new Uint32Array(image.data.buffer);
  const scale = 255 / (high - low);
  let pixel = 0;
  for (let row = 0; row < map.rows.length; row++) {
    for (let k = 0; k < at.length; k++) {
      const n = row * columns + at[k], word = words[n];
      pixels[pixel++] = word === BAD || (bad !== null && bad[n] > 0) ? RED : word === MISSING ? missing
        : word === ZERO ? RAMP[0] : RAMP[Math.max(0, Math.min(255, ((word - low) * scale) | 0))];
    }
  }
  return image;
}
