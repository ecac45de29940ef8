// The way through the depth of the model at one step: of each layer the size of its outputs, its gradient and its weight, with the range of the steps before.
import type { Layers } from "./data";
import { BAD, MISSING, unpacked, value, ZERO, type Levels } from "./levels";
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

interface Read { value: number | null; bad: boolean }
function read(levels: Levels | undefined, rows: number[], column: number, layers: Layers): Read {
  let squares = 0, known = false, bad = false;
  for (const row of levels ? rows : []) {
    const at = row * levels!.columns + column, word = levels!.words[at];
    if (word === BAD || levels!.bad?.[at]) bad = true;
    else if (word !== MISSING) { known = true; squares += word === ZERO ? 0 : value(word, layers)! ** 2; }
  }
  return { value: known && !bad ? Math.sqrt(squares) : null, bad };
}

// A line at a column, or at the last one before it that holds it; the range is that of the columns before.
export function lineAt(known: Known, kind: "activation" | "gradient" | "weight", wanted: number, layers: Layers, { finite = false, range = true } = {}): Line {
  const levels = known.maps[kind];
  const rows = known.layers.map((layer) => (kind === "activation" ? (layer.activation < 0 ? [] : [layer.activation]) : kind === "gradient" ? layer.gradients : layer.weights));
  const unit = known.layers.map((layer) => (kind === "activation" ? layer.root || 1 : 1));
  const none = { values: rows.map(() => null), bad: rows.map(() => false), low: rows.map(() => null), high: rows.map(() => null), step: null };
  if (!levels) return none;
  let column = wanted;
  const held = (at: number) => rows.some((list) => list.some((row) => { const word = levels.words[row * levels.columns + at]; return word !== MISSING && (!finite || (word !== BAD && !levels.bad?.[row * levels.columns + at])); }));
  while (column >= 0 && !held(column)) column--;
  if (column < 0) return none;
  const now = rows.map((list) => read(levels, list, column, layers));
  const low: (number | null)[] = [], high: (number | null)[] = [];
  const pace = Math.max(1, Math.ceil((column * rows.length) / 30_000)); // a range of very many steps is that of an even choice of them
  rows.forEach((list, n) => {
    let least = Infinity, most = -Infinity;
    for (let at = 0; range && at < column; at += pace) {
      const one = read(levels, list, at, layers).value;
      if (one !== null && one > 0) { least = Math.min(least, one); most = Math.max(most, one); }
    }
    low.push(most > 0 ? least / unit[n] : null); high.push(most > 0 ? most / unit[n] : null);
  });
  return { values: now.map((one, n) => (one.value === null ? null : one.value / unit[n])), bad: now.map((one) => one.bad), low, high, step: layers.steps[column] };
}
