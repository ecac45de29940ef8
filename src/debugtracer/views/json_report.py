"""The machine-readable report: schema debug-tracer.report/1.

Field by field: (docs/rationale/contracts.md#json-report)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugtracer.trace.events import RankEnded, RankStarted
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.number import number
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Verdict
from debugtracer.views.view import View, diagnosed, findings, incidents
from debugtracer.views.words import actions
from debugtracer.views.words.layer_states import layer_states
from debugtracer.views.words.log_read import LogRead, log_read

SCHEMA = "debug-tracer.report/1"


@dataclass(frozen=True)
class JsonReport(View):
    """One JSON object; non-finite numbers are strings; `verdict` is null on a healthy run."""

    word: ClassVar[str] = "json"
    extension: ClassVar[str] = "json"

    def render(self, trace: Trace, *, color: bool = False, width: int = 80) -> str:
        """The report as indented JSON, ending in a newline."""
        return json.dumps(finite(report(trace)), indent=1, allow_nan=False) + "\n"


def report(trace: Trace) -> dict[str, Any]:
    """The report as plain values."""
    told = incidents(trace)
    found = findings(trace)
    verdict = told[0].verdict if told else lead(found, diagnosed(trace))
    log = log_read(trace)
    return {
        "schema": SCHEMA,
        "run": run(trace, log),
        "verdict": verdict_of(verdict, folder_of(trace)) if verdict else None,
        "findings": [msgspec.to_builtins(f) for f in found],
        "layers": {
            layer: word.partition(":")[0] if word.startswith("fired") else word
            for layer, word in layer_states(trace, found, verdict, log).items()
        },
        "actions": actions.plain(trace),
        "overhead": overhead(ends(trace)),
    }


def run(trace: Trace, log: LogRead | None) -> dict[str, Any]:
    """Return facts of the run; steps and iterations are the most of any rank. `log` says what an imported log held."""
    manifest, ended = trace.manifest, ends(trace)
    worlds = [event.world_size for event in trace.events() if isinstance(event, RankStarted)]
    return {
        "id": trace.path.name,
        "command": list(manifest.command),
        "steps": max((e.steps for e in ended), default=0),
        "iterations": 0 if log else max((e.iterations for e in ended), default=0),
        "world_size": max(worlds, default=1),
        "exit_code": manifest.exit_code,
        "stopped_by_tracer": manifest.stopped_by_tracer,
        **({"own_updates": max(own)} if (own := [e.own_updates for e in ended if e.own_updates is not None]) else {}),
        **({"capture": thinned} if (thinned := capture(ended)) else {}),
        **({"log": log.as_plain()} if log else {}),
        **({"skipped": list(trace.problems)} if trace.problems else {}),
    }


def ends(trace: Trace) -> list[RankEnded]:
    """The last word of each rank about its counters."""
    last = {event.rank: event for event in trace.events() if isinstance(event, RankEnded)}
    return list(last.values())


def capture(ended: list[RankEnded]) -> dict[str, float]:
    """Return the share of the steps in which a part of what we do rested, of the rank where it rested most."""
    shares: dict[str, float] = {}
    for one in ended:
        for part, steps in one.rested.items():
            shares[part] = max(shares.get(part, 0.0), round(steps / max(one.steps, 1), 4))
    return shares


def overhead(ended: list[RankEnded]) -> dict[str, float]:
    """Return the worst rank's share of wall time spent in our code, and its host syncs per step."""
    return {
        "own_time_share": round(max((e.own_s / e.wall_s for e in ended if e.wall_s > 0), default=0.0), 6),
        "host_syncs_per_step": round(max((e.host_syncs / e.steps for e in ended if e.steps > 0), default=0.0), 4),
    }


def verdict_of(verdict: Verdict, cwd: str) -> dict[str, Any]:
    """The verdict as plain values, files relative to the folder the run was started in."""
    plain: dict[str, Any] = msgspec.to_builtins(verdict)
    plain["file"] = relative(plain["file"], cwd)
    if plain["change"] is not None:
        plain["change"]["file"] = relative(plain["change"]["file"], cwd)
    for link in plain["chain"]:
        link["file"] = relative(link["file"], cwd)
    return plain


def folder_of(trace: Trace) -> str:
    """The folder the run was started in, "" if the manifest does not say."""
    return str(getattr(trace.manifest, "cwd", "") or "")


def relative(file: str | None, cwd: str) -> str | None:
    """A path below `cwd` without it; any other unchanged."""
    return str(Path(file).relative_to(cwd)) if file and cwd and Path(file).is_relative_to(cwd) else file


def finite(value: Any) -> Any:
    """The same values with non-finite floats as strings."""
    if isinstance(value, dict):
        return {key: finite(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return number(value) if isinstance(value, float) and not math.isfinite(value) else value
