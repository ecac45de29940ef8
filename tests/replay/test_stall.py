"""Code that waits for ever is broken off; code that works is not."""

from __future__ import annotations

import queue
import signal
import threading
import time

import pytest

from debugtracer.replay import stall
from debugtracer.replay.stall import Stalled, broken_off

pytestmark = pytest.mark.timeout(0)  # pytest-timeout would use the same timer


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(stall, "TICK_S", 0.05)
    monkeypatch.setattr(stall, "WORK_S", 0.005)


def test_a_queue_that_stays_empty_is_left():
    begin = time.monotonic()
    with pytest.raises(Stalled), broken_off():
        queue.Queue().get()
    assert time.monotonic() - begin < 20
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_queue_that_stays_empty_is_left_while_another_thread_works():
    over = threading.Event()

    def work():
        while not over.is_set():
            pass

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        with pytest.raises(Stalled), broken_off():
            queue.Queue().get()
    finally:
        over.set()
        thread.join()


def test_work_goes_on():
    with broken_off():
        end, total = time.process_time() + 0.6, 0
        while time.process_time() < end:
            total += 1
    assert total


def test_a_timer_of_the_users_is_left_alone():
    rang = []
    signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with broken_off():
            time.sleep(0.5)
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert rang == [1]


def test_another_thread_is_not_watched():
    done = []

    def work():
        with broken_off():
            time.sleep(0.6)
        done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]
