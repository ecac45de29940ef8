"""Signals that the program has given to faulthandler stay its own."""

from __future__ import annotations

import faulthandler
import signal

import pytest

from debugtracer.recorder.output.fatal_signals import FatalSignals

pytestmark = pytest.mark.skipif(not hasattr(faulthandler, "register"), reason="no faulthandler.register here")


@pytest.fixture
def signals():
    one = FatalSignals()
    one.install()
    yield one
    one.remove()
    faulthandler.unregister(signal.SIGUSR2)


def test_a_signal_of_the_program_is_left_to_it(signals, tmp_path):
    with (tmp_path / "own").open("w") as own, (tmp_path / "ours").open("w") as ours:
        faulthandler.register(signal.SIGUSR2, file=own)
        assert not signals.keep(signal.SIGUSR2, file=ours)
        signal.raise_signal(signal.SIGUSR2)
    assert "test_a_signal_of_the_program" in (tmp_path / "own").read_text()
    assert (tmp_path / "ours").read_text() == ""


def test_one_that_it_gives_back_is_free_again(signals, tmp_path):
    with (tmp_path / "ours").open("w") as ours:
        faulthandler.register(signal.SIGUSR2, file=ours)
        faulthandler.unregister(signal.SIGUSR2)
        assert signals.keep(signal.SIGUSR2, file=ours)
        signal.raise_signal(signal.SIGUSR2)
    assert "test_one_that_it_gives_back" in (tmp_path / "ours").read_text()


def test_the_functions_are_put_back():
    before = faulthandler.register, faulthandler.unregister
    one = FatalSignals()
    one.install()
    assert faulthandler.register is not before[0]
    one.remove()
    assert (faulthandler.register, faulthandler.unregister) == before
