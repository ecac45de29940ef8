"""What was judged: every check with how often it was asked, what it found, or why it could not be asked."""

from __future__ import annotations

from collections import Counter
from typing import Any

from debugtracer.trace.events import Judged
from debugtracer.trace.finding import grave
from debugtracer.trace.store.reader import Trace
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
            }
        )
    return rows
