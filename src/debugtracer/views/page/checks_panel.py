"""What was judged: every check with how often it was asked, what it found, or why it could not be asked."""

from __future__ import annotations

from collections import Counter
from typing import Any

from debugtracer.trace.events import Judged
from debugtracer.trace.finding import grave
from debugtracer.trace.nearness import Nearness
from debugtracer.trace.store.reader import Trace
from debugtracer.views.page.series_panel import short as short_number
from debugtracer.views.view import findings


def checks_panel(trace: Trace) -> list[dict[str, Any]]:
    """Make one row a check, by layer; the state is fired, silent, short (too few values) or unseen."""
    judged = [event for event in trace.events() if isinstance(event, Judged)]
    asked: Counter[str] = Counter()
    for event in judged:
        asked.update(event.asked)
    unseen = {slug: what for event in judged for slug, what in event.unseen.items()}
    short = {slug: need for event in judged for slug, need in event.short.items()}
    found = findings(trace)
    fired = Counter(f.check for f in found)
    worst = {f.check: f.severity for f in sorted(found, key=lambda f: grave(f.severity))}
    near = closest(judged)
    rows = []
    for slug in sorted({*asked, *unseen, *short, *fired}):
        state = "fired" if fired[slug] else "unseen" if slug in unseen else "short" if slug in short else "silent"
        rows.append(
            {
                "check": slug,
                "state": state,
                "asked": asked[slug],
                "fired": fired[slug],
                "severity": worst.get(slug, ""),
                "lacks": unseen.get(slug, ""),
                "needs": short.get(slug, 0),
                "near": near.get(slug),
            }
        )
    return rows


def closest(judged: list[Judged]) -> dict[str, dict[str, Any]]:
    """How close each check came on any rank: what was measured, the number and its limit, when."""
    found: dict[str, Nearness] = {}
    for event in judged:
        for slug, one in event.near.items():
            if slug not in found or one.share > found[slug].share:
                found[slug] = one
    return {
        slug: {
            "what": one.what,
            "value": short_number(one.value),
            "limit": short_number(one.limit),
            "below": one.below,
            "step": one.step,
            "share": short_number(one.share),
        }
        for slug, one in found.items()
    }
