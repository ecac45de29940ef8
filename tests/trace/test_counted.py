"""One and many."""

from __future__ import annotations

from debugtracer.trace.counted import counted


def test_one_is_singular_and_none_is_plural():
    assert [counted(n, "finding") for n in (0, 1, 2)] == ["0 findings", "1 finding", "2 findings"]
