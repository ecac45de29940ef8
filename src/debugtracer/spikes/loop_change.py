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
    known = known_of(window, episode)
    if episode.abrupt:  # weights that were written do not heal at once
        rise = episode.peak / episode.expected if episode.expected > 0 else math.inf
        return next((fact for fact in known if fact.explains(SHARE * rise)), None)
    return next((fact for fact in known if fact.params), known[0] if known else None)


def redefinition(window: Window, episode: Episode) -> LoopChange | None:
    """What computes the loss otherwise since an episode began, that was not over at once: the jump is the program's
    own. None after a write into weights."""
    known = known_of(window, episode)
    if episode.abrupt or any(fact.params for fact in known):
        return None
    return next((fact for fact in known if fact.of_loss), None)


def known_of(window: Window, episode: Episode) -> list[LoopChange]:
    """What the loop did in the bad steps of an episode, or just before."""
    last = episode.last_bad if episode.bad_steps else episode.ref.step
    within = range(episode.ref.step - EARLY, max(last, episode.ref.step) + 1)
    return [fact for fact in window.seen(LoopChange) if fact.ref.step in within]


def is_redefined(window: Window, step: int) -> bool:
    """Whether the loss is computed otherwise since about a step."""
    return any(fact.of_loss and abs(fact.ref.step - step) <= EARLY for fact in window.seen(LoopChange))
