// The document that debugtracer.views.page writes: debug-tracer.page/1.
export type Num = number | string | null;

export interface Excerpt { label: string; file: string; function: string; line: number; first: number; lines: string[] }
export interface Leaf {
  name: string; dtype: string; shape: number[]; low: Num; high: Num; nan: number; inf: number; zeros: number;
  values: Num[]; text: string | null; picture?: Pixels | null; signal?: Num[];
}
export interface Pixels { height: number; width: number; channels: number; pixels: string; bad: number[] }
export interface BatchRow { row: number; index: number | null; guilty: boolean; leaves: Leaf[]; label: unknown }
export interface Finding {
  check: string; layer: string; severity: "note" | "warning" | "error"; step: number; rank: number; message: string;
  evidence: Record<string, Num>;
}
export interface Verdict {
  class: string | null; cause: string | null; symptom: string; layer: string; step: number; rank: number; op: string | null;
  direction: string | null; module: string | null; param: string | null; file: string | null; line: number | null;
  status: string; confidence: number; batch_rows: number[] | null; sample_index: number[] | null; microbatch: number;
  backward_op: string | null; suspects: { class: string; confidence: number; status: string }[];
}
export interface Trial { name: string; text: string; outcome: string }
export interface Head {
  title: string; tone: "bad" | "warning" | "good" | "unknown"; verdict: Verdict | null; what?: string;
  where?: string[][]; sample?: string[][]; since?: string[][]; seen?: string[][]; trials_title?: string;
  trials?: Trial[]; replayable?: boolean; sides?: string[][]; change?: string[]; tested?: string;
  remedies?: string[]; sources?: Excerpt[]; batch?: { rows: BatchRow[]; omitted: number } | null;
  bad?: { step: number; loss?: Num; grad_l2?: Num }; further: Finding[]; crashes: string[]; actions: string[][];
  log: string[][]; layers: Record<string, string>; cost: string[][];
}
export interface Series { name: string; x: number[]; y: Num[]; lo?: Num[]; hi?: Num[] }
export interface Mark { step: number; kind: string; rank: number; name: string; text: string; limit?: Num }
export interface HeatMap { name: string; role: string; rows: string[]; shapes: string[]; levels: string; bad: string; at?: number[] }
export interface Layers {
  steps: number[]; maps: HeatMap[]; pending?: boolean; thinned?: number; least: number; greatest: number;
  bins: { lowest: number; highest: number; of: Record<string, Record<string, number[]>> };
}
export interface Ops {
  why?: string; text?: string; step: number; seen: number; birth: number | null; words: (string | null)[];
  op: number[]; direction: number[]; forward_op: number[]; module: number[]; file: number[]; code: number[]; dtype: number[];
  index: number[]; line: (number | null)[]; nan: number[]; inf: number[]; numel: number[];
  low: Num[]; high: Num[]; mean: Num[]; shape: number[][]; producers: number[][]; inputs: string[][];
  at: number[][][]; values: Num[][]; reads: string[][]; read: Num[][][];
}
// the operator at which the play opens: the birth, else the first that is not finite, else the first
export const opening = (ops: Ops): number => ops.birth ?? ops.index?.[Math.max(0, ops.index.findIndex((_, n) => ops.nan[n] + ops.inf[n] > 0))] ?? 0;
export interface Near { what: string; value: number; limit: number; below: boolean; step: number; share: number }
export interface Check {
  check: string; state: string; asked: number; fired: number; severity: string; lacks: string; needs: number; near?: Near | null;
}
export interface Rank {
  rank: number; steps: number; device: string; ended: boolean; first_bad: number | null; series: string; problem?: string;
  step_s?: Num; wait_s?: Num; loss?: { x: number[]; y: Num[] };
}
export interface State { status: "running" | "paused" | "ended" | "lost"; written_at: number }
export interface RunRow {
  id: string; tone?: string; line?: string; place?: string; class?: string; command?: string; mode?: string; steps?: number;
  ranks?: number; started_at?: number; written_at?: number; status?: State["status"]; pending?: boolean;
}
export interface RunList { schema: string; id: string; now: number; folder: string; runs: RunRow[] }
export interface Parting { step: number; left: Num; right: Num; name?: string }
export interface Compared { name: string; lines: Series[]; shared: number; first: Parting | null; apart: Parting | null }
export interface Comparison {
  schema: string; id: string; headline: string; live?: boolean; runs: (RunRow & { wrong_step: number | null })[]; first: Parting | null;
  series: Compared[]; settings: { name: string; left: string; right: string }[]; same: number; problems: string[];
}
export interface Page {
  live?: { now: number; list: boolean; token: string; remedies?: Record<string, string>; tried?: Trial[] }; version?: string; state?: State;
  schema: string; id: string; written_at: number; rank: number; focus: number | null;
  run: { steps?: number; iterations?: number; world_size?: number; exit_code?: number | null; stopped_by_tracer?: boolean };
  manifest: { command?: string[]; started_at?: number; status?: string; mode?: string; host?: string };
  head: Head | null; markdown: string; series: Series[]; marks: Mark[]; layers: Layers; ops: Ops; checks: Check[];
  ranks: Rank[]; problems: string[];
}

export function bytes(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) out[n] = text.charCodeAt(n);
  return out;
}

export const LIST = "debug-tracer.runs/1", COMPARE = "debug-tracer.compare/1";
export async function decoded(base64: string): Promise<Page | RunList | Comparison> {
  const stream = new Blob([bytes(base64.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
  const page = (await new Response(stream).json()) as Page | RunList | Comparison;
  if (!["debug-tracer.page/1", LIST, COMPARE].includes(page.schema)) throw new Error(`its data has the format ${page.schema}`);
  return page;
}

export const lastOf = (page: Page): number =>
  Math.max(0, ...page.series.flatMap((s) => s.x.slice(-1)), ...page.marks.map((m) => m.step), ...page.layers.steps.slice(-1), (page.run.steps ?? 1) - 1, page.focus ?? 0);

// 12 s, 5 min, 3 h, 2 d
export const age = (known: number, units: string[]): string =>
  known < 90 ? `${Math.round(known)} ${units[0]}` : known < 5400 ? `${Math.round(known / 60)} ${units[1]}` : known < 129_600 ? `${Math.round(known / 3600)} ${units[2]}` : `${Math.round(known / 86_400)} ${units[3]}`;

// Non-finite numbers travel as words.
export const real = (value: Num | undefined): number | null => (value == null ? null : Number(value));
export const finite = (value: Num | undefined): boolean => value != null && Number.isFinite(Number(value));

export function shown(value: Num | undefined, digits = 4): string {
  if (value == null) return "–";
  const known = Number(value);
  if (Number.isNaN(known)) return "NaN";
  if (!Number.isFinite(known)) return known > 0 ? "Inf" : "-Inf";
  if (known !== 0 && (Math.abs(known) < 1e-3 || Math.abs(known) >= 1e6)) {
    return known.toExponential(Math.max(0, digits - 2)).replace("e+", "e");
  }
  return String(Number(known.toPrecision(digits)));
}

export const seconds = (value: Num | undefined): string => {
  const known = real(value);
  if (known == null || !Number.isFinite(known)) return "–";
  return known < 1e-3 ? `${shown(known * 1e6, 3)} µs` : known < 1 ? `${shown(known * 1e3, 3)} ms` : `${shown(known, 3)} s`;
};
// 812 MB, 3.4 GB: powers of ten, as disks and cards are sold
export const sized = (value: Num | undefined, digits = 3): string => {
  const known = real(value);
  if (known == null || !Number.isFinite(known)) return "–";
  return known < 1e6 ? `${shown(known / 1e3, digits)} kB` : known < 1e9 ? `${shown(known / 1e6, digits)} MB` : `${shown(known / 1e9, digits)} GB`;
};
// the digits with which sizes that lie close together are told apart
export const apart = (values: (number | null)[]): number => {
  const known = [...new Set(values.filter((v) => v != null))];
  return [3, 4, 5].find((digits) => new Set(known.map((v) => sized(v, digits))).size === known.length) ?? 6;
};
export const MEMORY = ["resident", "allocated", "reserved"];
export const bare = (op: string | null): string => (op ?? "").replace(/^aten::/, "");
export const spaced = (text: string | null): string => (text ?? "").replace(/_/g, " ");
