"""Gradients that explode after a bad batch are clipped where that was chosen, beside what comes without it."""

from __future__ import annotations

from pathlib import Path

from debugtracer.responses.clipped_gradient import CLIPPED
from tests.responses.chosen import exploding, go, largest
from tests.responses.loops import actions
from tests.watching import incidents


def test_gradients_that_explode_are_clipped_to_the_usual_norm(tmp_path: Path) -> None:
    cause = "data-nonfinite"
    clipped = go(tmp_path / "a", exploding(3), f"{cause}=clip-harder")
    assert incidents(tmp_path / "a")[0].verdict.cause == cause
    (done,) = actions(tmp_path / "a")
    assert done.action == "clip-harder" and f"the usual one, for {CLIPPED} steps" in done.reason
    bare = go(tmp_path / "b", exploding(3))
    assert largest(clipped) < 5 and largest(bare) > 100
