"""The health snapshot as a table: `debug-tracer report RUN --layers`, one row a tensor."""

from __future__ import annotations

import math

from debugtracer.errors import TraceError
from debugtracer.trace.counted import counted
from debugtracer.trace.events import Incident
from debugtracer.trace.facts.health import Health, ParamDynamics, TensorHealth
from debugtracer.trace.number import Number, as_float
from debugtracer.trace.store.reader import Trace

BARS = " ▁▂▃▄▅▆▇█"
ABSENT = {  # why a snapshot lacks the rows of a role: at a step like any other, at a step that failed
    "gradient": (
        "no parameter held one when the optimizer stepped.",
        "no parameter held one at the alarm; it came before the backward had reached them, or they were cleared since.",
    ),
    "activation": (
        "no leaf module ran inside a watched model in this step (a compiled model shows none).",
        "they are read on inspected steps only (the first three, then every --inspect-steps), and the step that failed "
        "was none of them; "
        "run again with --inspect-steps 1 to see them.",
    ),
}
HEAD = ("tensor", "shape", "mean", "std", "min", "max", "L2", "zero", "2^-24 .. 2^15", "more")


def render_layers(trace: Trace, rank: int = 0) -> str:
    """The last snapshot of a rank as text, ending in a newline. Raises TraceError when none was taken."""
    taken = snapshots(trace, rank)
    if not taken:
        raise TraceError(
            f"{trace.path}: no health snapshot was taken on rank {rank}; they are taken on the first three steps and "
            "then every --inspect-steps."
        )
    last = shown_snapshot(trace, rank, taken)
    kept = f"{counted(len(taken), 'snapshot')} {'is' if len(taken) == 1 else 'are'} kept: step{'s' * (len(taken) > 1)}"
    lines = [f"Health of step {last.ref.step}, rank {rank}; {kept} {spoken([f.ref.step for f in taken])}"]
    failed = last.ref.step in failing(trace, rank)
    updates = {one.name: one for one in last.params}
    for role, title in (
        ("weight", "Weights"),
        ("gradient", "Gradients"),
        ("activation", "Activations"),
        ("tracked", "Tracked"),
        ("tracked_gradient", "Gradients of tracked"),
    ):
        rows = [t for t in last.tensors if t.role == role]
        if not rows and role in ABSENT:
            lines += ["", f"No {title.lower()}: {ABSENT[role][failed]}"]
        if rows:
            lines += [
                "",
                title,
                *table([HEAD, *(cells(t, updates.get(t.name) if role == "weight" else None) for t in rows)]),
            ]
    return "\n".join(lines) + "\n"


def shown_snapshot(trace: Trace, rank: int, taken: list[Health]) -> Health:
    """The snapshot of the first incident, else the last one: after an incident every number may be NaN."""
    steps = failing(trace, rank)
    return next((fact for fact in taken if steps and fact.ref.step == steps[0]), taken[-1])


def failing(trace: Trace, rank: int) -> list[int]:
    """The steps of the incidents of a rank."""
    return [e.facts.ref.step for e in trace.events(rank, snapshots=False) if isinstance(e, Incident)]


def snapshots(trace: Trace, rank: int) -> list[Health]:
    """The health snapshots of a rank, oldest first."""
    return trace.snapshots(rank)


def cells(row: TensorHealth, update: ParamDynamics | None) -> tuple[str, ...]:
    """Return one row of the table."""
    shape = "x".join(map(str, row.shape)) or "scalar"
    empty = row.bad >= row.sampled  # the statistics are of finite values, and there is none
    numbers = ["-" if empty else short(value) for value in (row.mean, row.std, row.low, row.high)]
    zero = "-" if empty else f"{row.zero_share:.0%}"
    return (
        row.name,
        f"{shape} {row.dtype}",
        *numbers,
        short(row.l2),
        zero,
        sparkline(row.bins),
        "; ".join(more(row, update)),
    )


def more(row: TensorHealth, update: ParamDynamics | None) -> list[str]:
    """The cells that only some tensors have: bad values, function, dead units, saturation, scores, update."""
    shown_snapshot = [f"{row.bad} of {row.sampled} not finite"] if row.bad else []
    shown_snapshot += [row.function] if row.function else []
    shown_snapshot += [f"dead units {row.dead_units:.0%}"] if row.dead_units else []
    shown_snapshot += [f"saturated {row.saturated:.0%}"] if row.saturated else []
    shown_snapshot += [f"entropy {row.entropy:.2f}"] if row.entropy is not None else []
    shown_snapshot += [f"score {short(row.logit_max)}"] if row.logit_max is not None else []
    if update is not None:
        weight, change = as_float(update.weight_l2), None if update.update_l2 is None else as_float(update.update_l2)
        shown_snapshot += [f"update/weight {change / weight:.1e}"] if change is not None and weight else []
        shown_snapshot += [f"exp_avg {short(update.moment_l2)}"] if update.moment_l2 is not None else []
        shown_snapshot += [f"least v {short(update.least_v)}"] if update.least_v is not None else []
        shown_snapshot += [f"sqrt(v) below eps {update.under_eps:.0%}"] if update.under_eps else []
        shown_snapshot += [f"RMS {short(update.rms)}"] if update.rms is not None else []
    return shown_snapshot


def short(value: Number | None) -> str:
    """Format a number with three digits, "" for None."""
    return "" if value is None else f"{as_float(value):.3g}"


def sparkline(bins: tuple[int, ...], width: int = 14) -> str:
    """The histogram in a few characters, logarithmic in the counts."""
    if not any(bins):
        return ""
    size = math.ceil(len(bins) / width)
    sums = [sum(bins[i : i + size]) for i in range(0, len(bins), size)]
    top = math.log1p(max(sums))
    return "".join(BARS[math.ceil(math.log1p(n) / top * (len(BARS) - 1))] for n in sums)


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Align rows in columns; numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = {0, 1, 8, 9}
    return [
        "  "
        + "  ".join(
            c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def spoken(steps: list[int], most: int = 8) -> str:
    """Format step numbers: `0, 1, 2, ... 900`."""
    shown = steps if len(steps) <= most else [*steps[: most - 1], steps[-1]]
    return (
        ", ".join(map(str, shown[:-1]))
        + (", ... " if len(steps) > most else ", " if len(shown) > 1 else "")
        + str(shown[-1])
    )
