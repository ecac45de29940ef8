"""Where a fault lies: in this batch, in the updates before it, in both together, in the code whatever the batch, or
outside what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from debugtracer.trace.verdict import Trial

BATCH, STATE = "other-batch", "older-weights"
WORDS = {
    (True, True): "it takes this batch on these weights: another batch heals the step, and so do older weights",
    (True, False): "it lies in this batch: another batch heals the step, older weights do not",
    (False, True): "it lies in the updates before: older weights heal the step, another batch does not",
    (
        False,
        False,
    ): "it lies neither in this batch nor in the last updates: another batch and older weights fail as well",
}


def attributed(trials: Sequence[Trial], done: Mapping[str, bool]) -> str:
    """Say in one sentence where the fault lies; empty where the two trials needed were not both run."""
    first = next((t for t in trials if t.intervention == "unchanged"), None)
    if first is not None and first.outcome == "not reproduced":
        return (
            "it lies outside the recorded calls: the same step with the same inputs is healthy when it is executed "
            "again"
        )
    if BATCH not in done or STATE not in done:
        return ""
    return WORDS[done[BATCH], done[STATE]]
