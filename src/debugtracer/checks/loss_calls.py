"""How checks read the calls of losses: those of one line together."""

from __future__ import annotations

from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.window import Window


def by_line(window: Window) -> dict[object, list[LossCall]]:
    """The calls that were looked at, oldest first, by the line that made them."""
    lines: dict[object, list[LossCall]] = {}
    for call in window.seen(LossCall):
        lines.setdefault(call.key(), []).append(call)
    return lines
