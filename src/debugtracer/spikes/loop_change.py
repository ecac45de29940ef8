"""What the loop did where an episode of the loss began."""

from __future__ import annotations

import math

from debugtracer.spikes.episode import Episode
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.window import Window

EARLY = 3  # steps before the first bad one of an episode (ours): what stands out by its size may not do so by its MAD

SHARE = 0.5  # of the times that a loss rose, by which a number must have changed that made it (ours)


def loop_change(window: Window, episode: Episode) -> LoopChange | None:
    """The first write into weights within the bad steps, else the first number that moved; of a jump that was over at
    once a number as large as the jump; None where nothing changed."""
    last = episode.last_bad if episode.bad_steps else episode.ref.step
    within = range(episode.ref.step - EARLY, max(last, episode.ref.step) + 1)
    known = [fact for fact in window.seen(LoopChange) if fact.ref.step in within]
    if episode.abrupt:  # weights that were written do not heal at once
        rise = episode.peak / episode.expected if episode.expected > 0 else math.inf
        return next((fact for fact in known if fact.explains(SHARE * rise)), None)
    return next((fact for fact in known if fact.params), known[0] if known else None)
