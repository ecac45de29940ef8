// The modules of a run as a tree in the order in which they run, and the health of each: at a step, or as far as the play of its ops has come.
import type { Layers, Ops } from "./data";
import { BAD, MISSING, type Levels } from "./levels";

export interface Tree {
  path: (string | null)[]; // null: code outside the modules
  name: string[];
  parent: Int32Array; depth: Int32Array; from: Int32Array; to: Int32Array; // the leaves that it spans: their places from left to right
  end: Int32Array; // the nodes of its subtree are those from itself up to here
  of: Map<string | null, number>;
  leaves: number;
}
interface Seed { path: string | null; name: string; children: Map<string, Seed> }

// a row of activations is a module, with a function that it called behind a colon, or one that the root called; other rows are tensors of a module
const CALLED = /:[^.:]*$|^\w+ at line \d+.*$/;
export const calledIn = (row: string): string => CALLED.exec(row)?.[0] ?? "";
export const moduleOf = (role: string, row: string): string => (role === "activation" ? row.replace(CALLED, "") : row.slice(0, Math.max(0, row.lastIndexOf("."))));

export function planted(layers: Layers, ops: Ops): Tree {
  const root: Seed = { path: "", name: "", children: new Map() };
  const put = (path: string) => {
    if (!path) return;
    let at = root, whole = "";
    for (const name of path.split(".")) {
      whole = whole ? `${whole}.${name}` : name;
      let next = at.children.get(name);
      if (!next) at.children.set(name, (next = { path: whole, name, children: new Map() }));
      at = next;
    }
  };
  let outside = false;
  const ran = new Set<number>();
  for (const word of ops.module ?? []) if (!ran.has(word)) { ran.add(word); if (ops.words[word] === null) outside = true; else put(ops.words[word]!); }
  for (const map of [...layers.maps].sort((a, b) => Number(b.role === "activation") - Number(a.role === "activation"))) {
    if (map.role === "activation" || map.role === "gradient" || map.role === "weight") for (const row of map.rows) put(moduleOf(map.role, row));
  }
  const seeds: Seed[] = [], parents: number[] = [], depths: number[] = [], ends: number[] = [], froms: number[] = [], tos: number[] = [];
  let leaves = 0;
  // without recursion: a model may nest deeper than the stack
  const open: [Seed, number, number][] = [[root, -1, 0]], closing: number[] = [];
  const close = (deeper: number) => {
    while (closing.length && depths[closing.at(-1)!] >= deeper) {
      const done = closing.pop()!;
      if (seeds[done].children.size === 0) leaves++;
      ends[done] = seeds.length; tos[done] = leaves;
    }
  };
  while (open.length) {
    const [seed, parent, depth] = open.pop()!;
    close(depth);
    const n = seeds.push(seed) - 1;
    parents.push(parent); depths.push(depth); froms.push(leaves);
    closing.push(n);
    for (const child of [...seed.children.values()].reverse()) open.push([child, n, depth + 1]);
  }
  close(0);
  if (outside) { // the loss and other free code, behind the model
    seeds.push({ path: null, name: "", children: new Map() });
    parents.push(0); depths.push(1); froms.push(leaves); leaves++; tos.push(leaves); ends.push(seeds.length);
    ends[0] = seeds.length; tos[0] = leaves;
  }
  return {
    path: seeds.map((s) => s.path), name: seeds.map((s) => s.name), parent: Int32Array.from(parents), depth: Int32Array.from(depths), from: Int32Array.from(froms),
    to: Int32Array.from(tos), end: Int32Array.from(ends), of: new Map(seeds.map((s, n) => [s.path, n])), leaves,
  };
}

// The words of a map at a snapshot, a node each: that of its own output, else the largest in it; BAD where it or anything in it is not finite.
export function healthAt(tree: Tree, role: string, rows: Int32Array, levels: Levels, column: number): Uint16Array {
  const words = new Uint16Array(tree.path.length);
  for (let row = 0; row < rows.length; row++) {
    const at = row * levels.columns + column, word = levels.bad?.[at] ? BAD : levels.words[at];
    if (rows[row] >= 0 && word > words[rows[row]]) words[rows[row]] = word;
  }
  const own = words.slice();
  for (let n = words.length - 1; n > 0; n--) {
    const up = tree.parent[n];
    if (words[n] > words[up] && (words[n] === BAD || role !== "activation" || own[up] === MISSING)) words[up] = words[n];
  }
  return words;
}

// The node of each row of a map.
export const nodesOf = (tree: Tree, role: string, rows: string[]): Int32Array => Int32Array.from(rows, (row) => tree.of.get(moduleOf(role, row)) ?? -1);

export const IDLE = 0, FINE = 1, INF = 2, NAN = 3;
export interface Play { state: Uint8Array; before: Uint8Array } // of the pass that runs now; of the passes before it

// The worst value that each node has made up to op `at`, in the pass that runs now (forward, backward or update) and in those before it.
export function played(tree: Tree, ops: Ops, nodes: Int32Array, at: number): Play {
  const state = new Uint8Array(tree.path.length), before = new Uint8Array(tree.path.length);
  const now = ops.direction[at];
  for (let n = 0; n <= at; n++) {
    const made = ops.nan[n] ? NAN : ops.inf[n] ? INF : FINE;
    const into = ops.direction[n] === now ? state : before;
    if (made > into[nodes[n]]) into[nodes[n]] = made;
  }
  for (const into of [state, before]) for (let n = into.length - 1; n > 0; n--) if (into[n] > into[tree.parent[n]]) into[tree.parent[n]] = into[n];
  return { state, before };
}
