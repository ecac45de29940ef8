"""One thing at a time in a thread; what it raised is told when somebody asks."""

from __future__ import annotations

import threading

import pytest

from debugtracer.recorder.output.background import Background


def test_the_caller_goes_on_while_it_is_done() -> None:
    background, may, done = Background(), threading.Event(), list[int]()

    def slowly() -> None:
        may.wait(20)
        done.append(1)

    background.start(slowly)
    assert background.busy and done == []
    may.set()
    background.finish()
    assert done == [1] and not background.busy and background.failure() is None and background.cpu_s >= 0


def test_the_second_waits_for_the_first() -> None:
    background, order = Background(), list[int]()
    for number in range(5):
        background.start(lambda number=number: order.append(number))  # type: ignore[misc]
    background.finish()
    assert order == [0, 1, 2, 3, 4]


def test_what_it_raised_is_told_once() -> None:
    background = Background()

    def fails() -> None:
        raise OSError("no space left")

    background.start(fails)
    background.finish()
    assert str(background.failure()) == "no space left" and background.failure() is None


def test_no_second_one_begins_beside_one_that_is_beyond_its_limit() -> None:
    background, may = Background(), threading.Event()
    background.start(lambda: may.wait(20), limit_s=0.01)
    with pytest.raises(TimeoutError, match="still under way"):
        background.start(lambda: None)
    assert background.busy and "in time" in str(background.failure())
    may.set()
    assert background.thread is not None
    background.thread.join()
    background.start(lambda: None)
    background.finish()
    assert background.failure() is None and background.succeeded
