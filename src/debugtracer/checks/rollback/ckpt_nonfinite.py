"""Is what is saved finite?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.checkpoint import CheckpointSaved
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class CkptNonfinite(Check, frozen=True):
    """NaN or infinite values in a state that is being saved.

    What it catches
        Weights saved after a NaN, an average of weights divided by zero, running statistics of a normalisation that
        overflowed.
    Why it matters
        The last good checkpoint is overwritten by one that nobody can use.
    How it decides
        Every floating tensor inside what Module.state_dict() made is tested when torch.save is called. Infinities
        beside nothing but 0 and 1 are a mask and fine.
    What to do
        Save only after a finite check, keep the last good file.
    Example
        step 40, rank 0: the checkpoint saved here (train.py:50) holds non-finite values in average.0.weight and 3 more
        of 8 tensors; expected finite weights. Keep the last good file, and look for the first step that made them so.
    """

    needs: ClassVar[tuple[type[CheckpointSaved]]] = (CheckpointSaved,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "ckpt_nonfinite"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "save only when every tensor is finite, and keep the last good file",
        "look for the first step at which this state became non-finite",
    )
    proved_by: ClassVar[str] = "rollback/average_too_early"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error at each such save, once per line."""
        for fact in window.new(CheckpointSaved):
            if fact.nonfinite:
                more = f" and {len(fact.nonfinite) - 1} more" if len(fact.nonfinite) > 1 else ""
                yield self.finding(
                    window,
                    "error",
                    f"the checkpoint saved here{spot(fact.frame)} holds non-finite values in {fact.nonfinite[0]}{more} "
                    f"of {fact.tensors} tensors; "
                    "expected finite weights. Keep the last good file, and look for the first step that made them so.",
                    ref=fact.ref,
                    place=Place(param=fact.nonfinite[0], frame=fact.frame),
                )
