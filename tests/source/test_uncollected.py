"""No garbage collection while something is made."""

from __future__ import annotations

import gc
import threading

import pytest

from debugtracer.source.uncollected import uncollected


@pytest.mark.parametrize("collects", [True, False])
def test_no_garbage_is_collected_inside_and_the_collector_is_left_as_it_was(collects: bool) -> None:
    if not collects:
        gc.disable()
    try:
        with uncollected() as was:
            assert not gc.isenabled()
            assert was is collects
        assert gc.isenabled() is collects
    finally:
        gc.enable()


def test_what_raises_inside_leaves_it_so_too() -> None:
    with pytest.raises(ValueError, match="no"), uncollected():
        raise ValueError("no")
    assert gc.isenabled()


def test_another_thread_leaves_the_collector_alone() -> None:
    seen = []

    def look() -> None:
        with uncollected() as was:
            seen.append((was, gc.isenabled()))

    other = threading.Thread(target=look)
    other.start()
    other.join()
    assert seen == [(False, True)]
