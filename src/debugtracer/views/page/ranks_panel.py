"""Rank by rank: how far each came, how fast, and which broke first."""

from __future__ import annotations

import contextlib
from typing import Any

from debugtracer.errors import TraceError
from debugtracer.trace.events import Crashed, Incident, RankEnded, RankStarted
from debugtracer.trace.store.reader import Trace
from debugtracer.views.page.launchers import launchers
from debugtracer.views.page.series_panel import short
from debugtracer.views.view import findings

MOST_RANKS = 256
BINS = 60


def ranks_panel(trace: Trace) -> list[dict[str, Any]]:
    """Make one row a rank, at most MOST_RANKS; a rank whose files cannot be read says so. A process that trained
    nothing and only started the ranks is none."""
    starters = launchers(trace)
    rows = [rank_row(trace, rank) for rank in shown_ranks(trace)]
    return [row for row in rows if row["rank"] not in starters or row.get("problem") or row["loss"]["x"]]


def shown_ranks(trace: Trace) -> list[int]:
    """Choose the ranks of the panel: of very many those that something bad was said of, then an even choice of the
    rest."""
    ranks = trace.ranks
    if len(ranks) <= MOST_RANKS:
        return ranks
    named = []
    with contextlib.suppress(TraceError):  # a rank whose files are damaged says so in its row
        bad = trace.first_bad()  # of healthy ranks the footers are read
        named += [bad.rank] if bad is not None else []
    named += [event.rank for event in trace.events() if isinstance(event, Incident | Crashed)]
    named += [finding.rank for finding in findings(trace) if finding.severity != "note"]
    present = set(ranks)
    chosen = dict.fromkeys(rank for rank in named if rank in present)
    chosen |= dict.fromkeys(ranks[n * len(ranks) // MOST_RANKS] for n in range(MOST_RANKS))
    return sorted(list(chosen)[:MOST_RANKS])


def rank_row(trace: Trace, rank: int) -> dict[str, Any]:
    """The loss in a few bins, mean step and wait time, the first bad step, how the rank ended."""
    row: dict[str, Any] = {"rank": rank, "steps": 0, "device": "", "ended": False, "first_bad": None, "series": ""}
    try:
        events = trace.events(rank)
        bad = trace.first_bad(rank=rank)
        loss = trace.overview("loss", rank, BINS)
        for name in ("step_s", "wait_s"):
            bins = [b for b in trace.overview(name, rank, BINS) if b.mean is not None]
            total = sum(b.n - b.bad for b in bins)
            row[name] = short(sum((b.mean or 0.0) * (b.n - b.bad) for b in bins) / total) if total else None
    except TraceError as error:
        return row | {"problem": str(error)}
    for event in events:
        if isinstance(event, RankStarted):
            row["device"] = event.device
        elif isinstance(event, RankEnded):
            row["steps"], row["ended"] = event.steps, event.final
        elif isinstance(event, Incident) and row["first_bad"] is None:
            row["first_bad"], row["series"] = event.facts.ref.step, event.facts.symptom
    if bad is not None and (row["first_bad"] is None or bad.step < row["first_bad"]):
        row["first_bad"], row["series"] = bad.step, bad.series
    if loss and not row["ended"]:  # one that was killed did not write its last count
        row["steps"] = max(row["steps"], loss[-1].step1)
    row["loss"] = {
        "x": [(b.step0 + b.step1) // 2 for b in loss],
        "y": ["NaN" if b.bad else short(b.mean) for b in loss],
    }
    return row
