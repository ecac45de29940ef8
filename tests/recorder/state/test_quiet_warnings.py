"""Warnings of code that we run once more are not shown, and nothing of Python's bookkeeping of them changes."""

from __future__ import annotations

import threading
import warnings

import pytest

from debugtracer.recorder.state.quiet_warnings import quiet_warnings


def test_inside_nothing_is_shown_and_afterwards_everything():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        with quiet_warnings():
            warnings.warn("again", stacklevel=1)
            assert warnings.filters == filters
        warnings.warn("first", stacklevel=1)
    assert [str(w.message) for w in seen] == ["first"]


def test_a_filter_that_raises_still_raises():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning), quiet_warnings():
            warnings.warn("grave", stacklevel=1)


def test_warnings_of_another_thread_are_shown():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with quiet_warnings():
            thread = threading.Thread(target=lambda: warnings.warn("elsewhere", stacklevel=1))
            thread.start()
            thread.join()
    assert [str(w.message) for w in seen] == ["elsewhere"]
