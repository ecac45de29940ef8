"""Are data and noise mixed with the roots of their shares?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.noise_share import NoiseShare
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RootMissing(Check, frozen=True):
    """Data and noise are mixed with factors of which one is a share and the other the root of a share.

    What it catches
        `ab.sqrt() * x + (1 - ab) * noise` in a diffusion model, where both have a root.
    Why it matters
        Between its ends the mixture has less spread than a sampler of such a model counts on, so it is asked for noise
        at strengths that it has never seen. The loss looks as usual.
    How it decides
        In inspected steps rows times a factor each and a draw times a factor each are added up, and both factors were
        made of what torch.cumprod gave. In all rows the one factor is 1 minus the square of the other (to `near`), and
        the squares of both do not add up to 1, nor do the factors themselves, as they do in flow matching. The factors
        of the noise differ by `apart` or more, in `looks` steps. A schedule in continuous time, such as the sub-VP
        process, whose noise has 1 - s^2 on purpose, has no cumulated product and is left alone.
    What to do
        Take the root of both shares.
    Example
        step 0, rank 0: data and noise are mixed (ddpm.py:31) with s and n of which s^2 + n is 1 in all of 64 rows, to
        6e-08, and s^2 + n^2 is off by up to 0.25, in 2 steps; expected s^2 + n^2 to be 1. Take the root of the noise's
        share: (1 - a).sqrt() beside a.sqrt().
    """

    needs: ClassVar[tuple[type[NoiseShare]]] = (NoiseShare,)
    kind: ClassVar[str] = "noise_differs"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = ("take the root of both shares: a.sqrt() * x + (1 - a).sqrt() * noise",)
    proved_by: ClassVar[str] = "data/gravel_paths"

    near: float = 1e-4
    """Of a sum from 1 (ours: float32 stays below 1e-6, half precision at 1e-3 is left alone)."""
    apart: float = 0.1
    """Between the least and the largest factor of the noise (ours)."""
    off: float = 0.02
    """Of the sum of the squares from 1 (ours)."""
    looks: int = 2
    """Inspected steps (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once."""
        memory = window.memory(self)
        for fact in window.new(NoiseShare):
            if not self.is_mixed_up(fact):
                continue
            seen = memory.setdefault(fact.frame, [])
            seen.append(fact)
            if len(seen) == self.looks:
                yield self.describe(window, seen[0])

    def is_mixed_up(self, fact: NoiseShare) -> bool:
        """Whether one of the roots is missing, and both are not meant to be."""
        if as_float(fact.high) - as_float(fact.low) < self.apart or as_float(fact.low) < 0:
            return False
        neither = as_float(fact.squares) > self.off and as_float(fact.straight) > self.off
        return neither and min(as_float(fact.plain_noise), as_float(fact.plain_data)) <= self.near

    def describe(self, window: Window, fact: NoiseShare) -> Finding:
        """Build the finding with the root that is missing."""
        noise = as_float(fact.plain_noise) <= self.near
        term, whose = ("s^2 + n", "noise's") if noise else ("s + n^2", "data's")
        least = as_float(fact.plain_noise if noise else fact.plain_data)
        return self.finding(
            window,
            "warning",
            f"data and noise are mixed{spot(fact.frame)} with s and n of which {term} is 1 in all of {fact.rows} rows, "
            f"to {least:.0e}, and s^2 + n^2 is off by up to {as_float(fact.squares):.2g}, in {self.looks} steps; "
            f"expected s^2 + n^2 to be 1. Take the root of the {whose} share: (1 - a).sqrt() beside a.sqrt().",
            ref=fact.ref,
            place=Place(frame=fact.frame),
            squares=as_float(fact.squares),
        )
