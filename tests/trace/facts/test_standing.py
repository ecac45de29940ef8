"""Where a rank stood, as a value."""

from __future__ import annotations

from debugtracer.trace.facts.standing import Standing
from tests.checks.windows import ref


def test_one_is_kept_of_each_rank():
    stood = Standing(ref=ref(6), how="waits", updates=6, call="barrier")
    assert Standing.KEEP == 1
    assert (stood.frame, stood.message) == (None, "")
