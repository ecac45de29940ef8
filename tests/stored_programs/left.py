"""What a program leaves: its tape after each step, the ring, the counters, the series, the findings and the verdict."""

from __future__ import annotations

import collections
import contextlib
import io
import math
import re
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from debugtracer.errors import StoppedByTracer
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.session import Session
from debugtracer.trace.events import Found, Incident, Observed
from debugtracer.trace.store.reader import open_trace
from tests.stored_programs.programs import Program
from tests.watching import under_watch

COUNTED = (
    "step", "iteration", "fetched_at", "fetches", "has_optimizer", "stepped", "weights_unread", "own_updates",
    "forward_since", "quiet_until_healthy", "compiles", "host_syncs", "skipped",
)  # fmt: skip
TIMED = re.compile(
    r"(^|_)(s|seconds|slowdown|line)$|^(at|pid|known|trace_id|folder|note|summary|remedy|tested|evidence|against|anomaly|bits)$"
)  # bits: how many of a trained weight's differ is the processor's rounding
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def left(program: Program, out: Path, **settings: Any) -> dict[str, Any]:
    """Run it under watch."""
    tapes: list[Any] = []
    settings = {"mode": "observe", "cost": 1.0} | settings
    with contextlib.redirect_stderr(io.StringIO()), under_watch(out, **settings) as session:
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign] # time has no say
        torch.manual_seed(3)
        with contextlib.suppress(StoppedByTracer):
            for _ in program():
                tape = [segment(one) for one in (session.tape.previous, session.tape.current) if one is not None]
                if not tapes or tapes[-1] != tape:
                    tapes.append(tape)
        counted = counters(session)
    trace = open_trace(out)
    series = {
        name: [round(v, 4) if math.isfinite(v) else str(v) for v in trace.series(name)[1][-3:]]
        for name in trace.names()
        if not TIMED.search(name)
    }
    events = trace.events()
    return {
        "tapes": tapes,
        "counters": counted,
        "series": series,
        "facts": dict(sorted(collections.Counter(one.word for one in events if isinstance(one, Observed)).items())),
        "findings": sorted(
            [f.check, f.severity, f.step, f.kind] for one in events if isinstance(one, Found) for f in [one.finding]
        ),
        "incidents": [timeless(msgspec.to_builtins(one)) for one in events if isinstance(one, Incident)],
    }


def counters(session: Session) -> dict[str, Any]:
    """What the session has counted and holds."""
    state, ring = session.state, session.ring
    return {name: getattr(state, name) for name in COUNTED} | {
        "schedulers": len(list(state.schedulers)),
        "scalers": len(list(state.scalers)),
        "held": [one.step for one in ring.held],
        "tapes": len(ring.tapes),
        "ring": [ring.off, ring.on_host, ring.every],
        "good": list(ring.good_steps(-1)),
    }


def segment(found: Segment) -> dict[str, Any]:
    """A stretch of the tape."""
    return {
        "entries": [entry(one) for one in found.entries],
        "of": [found.backwards, len(found.losses), found.has_graph, found.silent_calls, found.full, found.rested],
        "refused": bool(found.refused),
        "leaves": len(found.leaves),
    }


def entry(found: Entry) -> list[Any]:
    """One call."""
    name = getattr(found.function, "__name__", type(found.function).__name__)
    more = [found.outputs, len(found.sides), found.scalar, found.grad, found.rng is not None, len(found.autocast)]
    return [found.kind, name, said(found.args), said(found.kwargs), more]


def said(value: Any) -> Any:
    """An argument: where a tensor comes from, any other value as it is."""
    if isinstance(value, Slot):
        return f"slot {value.entry}.{value.output}"
    if isinstance(value, Leaf):
        told = (("saved", value.saved is not None), ("moved", value.moved), ("foreign", value.foreign))
        words = [word for word, is_so in told if is_so]
        return " ".join([f"leaf {tuple(value.tensor.shape)} {value.tensor.dtype}", *words])
    if isinstance(value, (list, tuple)):
        return [said(one) for one in value]
    if isinstance(value, dict):
        return {str(key): said(one) for key, one in value.items()}
    if isinstance(value, Tensor):
        return f"tensor {tuple(value.shape)} {value.dtype}"
    return value if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__


def timeless(value: Any) -> Any:
    """Plain values without times, folders and sentences."""
    if isinstance(value, dict):
        kept = {str(name): one for name, one in value.items() if not TIMED.search(str(name))}
        return {name: timeless(one[:2] if name == "frames" else one) for name, one in kept.items()}
    if isinstance(value, (list, tuple)):
        return [timeless(one) for one in value]
    if isinstance(value, str):
        return Path(value).name if "/" in value else NUMBER.findall(value) if value.count(" ") > 3 else value
    return round(value, 4) if isinstance(value, float) else value
