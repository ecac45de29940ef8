// The way through the depth of the model at one step: of each layer the size of its outputs, its gradient and its weight, with the range of the steps before.
import type { Layers } from "./data";
import { BAD, MISSING, numbers, unpacked, type Levels } from "./levels";
import { calledIn, moduleOf } from "./modules";

export interface Layer { name: string; activation: number; gradients: number[]; weights: number[]; root: number } // rows of the maps; root: of the number of elements
export interface Known { layers: Layer[]; maps: Record<string, Levels | undefined> }
export interface Line { values: (number | null)[]; bad: boolean[]; low: (number | null)[]; high: (number | null)[]; step: number | null }

// the elements of "16x96x64 float32 Linear"
const elements = (shape: string): number => {
  const counts = /^[\dx]+/.exec(shape)?.[0].split("x").map(Number) ?? [];
  return counts.length && counts.every((n) => n > 0) ? counts.reduce((a, b) => a * b, 1) : 0;
};

// Layers that run code of their own, in the order of the parameters and, between them, of the calls; what only holds others is left out.
export function layersOf(layers: Layers): Known {
  const of = (name: string) => layers.maps.find((map) => map.name === name);
  const [activation, gradient, weight] = [of("activation"), of("gradient"), of("weight")];
  const found = new Map<string, Layer>();
  const put = (name: string): Layer => {
    let layer = found.get(name);
    if (!layer) found.set(name, (layer = { name, activation: -1, gradients: [], weights: [], root: 0 }));
    return layer;
  };
  const owners = new Set([...(gradient?.rows ?? []), ...(weight?.rows ?? [])].map((row) => moduleOf("weight", row)));
  const called = (activation?.rows ?? []).flatMap((row, n) => (calledIn(row) ? [] : [[row, n] as const]));
  const inner = new Set<string>();
  for (const [name] of called) for (let at = name.lastIndexOf("."); at > 0; at = name.lastIndexOf(".", at - 1)) inner.add(name.slice(0, at));
  for (const name of owners) if (!called.some(([row]) => row === name)) put(name); // weights of a module whose call was not seen
  for (const [name, n] of called) {
    if (inner.has(name) && !owners.has(name)) continue;
    const layer = put(name);
    [layer.activation, layer.root] = [n, Math.sqrt(elements(activation!.shapes[n]))];
  }
  gradient?.rows.forEach((row, n) => found.get(moduleOf("gradient", row))?.gradients.push(n));
  weight?.rows.forEach((row, n) => found.get(moduleOf("weight", row))?.weights.push(n));
  const maps = Object.fromEntries([activation, gradient, weight].flatMap((map) => (map ? [[map.name, unpacked(map, layers)]] : [])));
  return { layers: [...found.values()], maps };
}

// What does not depend on the step, of a kind: the rows of each layer, the unit of its numbers, the columns that hold any number and any finite one.
type Kind = "activation" | "gradient" | "weight";
interface Ready { levels: Levels; rows: number[][]; unit: number[]; held: Uint8Array; finite: Uint8Array }
const prepared = new WeakMap<Known, Map<Kind, Ready | null>>();
function ready(known: Known, kind: Kind): Ready | null {
  if (!prepared.has(known)) prepared.set(known, new Map());
  const kinds = prepared.get(known)!;
  if (kinds.has(kind)) return kinds.get(kind)!;
  const levels = known.maps[kind];
  if (!levels) { kinds.set(kind, null); return null; }
  const { words, bad, columns } = levels;
  const rows = known.layers.map((layer) => (kind === "activation" ? (layer.activation < 0 ? [] : [layer.activation]) : kind === "gradient" ? layer.gradients : layer.weights));
  const unit = known.layers.map((layer) => (kind === "activation" ? layer.root || 1 : 1));
  const held = new Uint8Array(columns), finite = new Uint8Array(columns);
  for (const list of rows) for (const row of list) {
    for (let at = 0, n = row * columns; at < columns; at++, n++) {
      if (words[n] === MISSING) continue;
      held[at] = 1;
      if (words[n] !== BAD && !bad?.[n]) finite[at] = 1;
    }
  }
  const one = { levels, rows, unit, held, finite };
  kinds.set(kind, one);
  return one;
}

// The norm over some rows at a column: NaN where one of them is not finite, -1 where none was measured.
function norm({ levels }: Ready, rows: number[], column: number, table: Float64Array): number {
  const { words, bad, columns } = levels;
  let squares = 0, known = false;
  for (const row of rows) {
    const at = row * columns + column, word = words[at];
    if (word === BAD || bad?.[at]) return NaN;
    if (word !== MISSING) { known = true; squares += table[word] ** 2; }
  }
  return known ? Math.sqrt(squares) : -1;
}

// A line at a column, or at the last one before it that holds it; the range is that of the columns before.
export function lineAt(known: Known, kind: Kind, wanted: number, layers: Layers, { finite = false, range = true } = {}): Line {
  const own = ready(known, kind), count = known.layers.length;
  let column = wanted;
  while (own && column >= 0 && !(finite ? own.finite : own.held)[column]) column--;
  if (!own || column < 0) return { values: Array(count).fill(null), bad: Array(count).fill(false), low: Array(count).fill(null), high: Array(count).fill(null), step: null };
  const table = numbers(layers);
  const line: Line = { values: [], bad: [], low: [], high: [], step: layers.steps[column] };
  const pace = Math.max(1, Math.ceil((column * count) / 30_000)); // a range of very many steps is that of an even choice of them
  for (let n = 0; n < count; n++) {
    const rows = own.rows[n], unit = own.unit[n], now = norm(own, rows, column, table);
    let least = Infinity, most = 0;
    for (let at = 0; range && rows.length && at < column; at += pace) {
      const one = norm(own, rows, at, table);
      if (one > 0) { if (one < least) least = one; if (one > most) most = one; }
    }
    line.values.push(now >= 0 ? now / unit : null);
    line.bad.push(Number.isNaN(now));
    line.low.push(most > 0 ? least / unit : null);
    line.high.push(most > 0 ? most / unit : null);
  }
  return line;
}
