"""Which response answers a bad step: by mode, by the cause that its verdict names, the smallest intrusion first."""

from __future__ import annotations

from dataclasses import dataclass

from debugtracer.responses.bad_step import BadStep

LADDERS = {
    "val": ("skip-update", "stop"),
    "prod": ("skip-update", "roll-back", "stop"),
}
# causes that another batch does not take away: what they have spoiled lies in the weights or the moments
LASTING = frozenset({"weights-nonfinite"})


@dataclass(frozen=True)
class Policy:
    """One per run, pure: what is done belongs to the responses."""

    mode: str

    def ladder(self, bad: BadStep) -> tuple[str, ...]:
        """The responses in the order in which they are tried; none in a mode that does not act."""
        found = LADDERS.get(self.mode, ())
        if bad.cause in LASTING:
            return tuple(slug for slug in found if slug != "skip-update")
        return found
