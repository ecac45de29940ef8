"""Facts about the thread that trains."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from debugtracer.hooks.events.training_thread import TrainingThread

T = TypeVar("T")


def in_a_thread(ask: Callable[[], T]) -> T:
    answers: list[T] = []
    thread = threading.Thread(target=lambda: answers.append(ask()))
    thread.start()
    thread.join()
    return answers[0]


def test_the_first_caller_trains_and_others_do_not() -> None:
    training = TrainingThread()
    assert training.here()
    assert not in_a_thread(training.here)
    assert in_a_thread(training.elsewhere)
    assert not training.elsewhere()


def test_the_claim_is_told_once_to_all_in_their_order() -> None:
    training, told = TrainingThread(), []
    training.on_claim(lambda owner, home: told.append(("first", owner == threading.get_ident(), home)))
    training.on_claim(lambda owner, home: told.append(("second", owner == home, home)))
    assert in_a_thread(lambda: training.here() and training.here())
    here = threading.get_ident()
    assert told == [("first", True, here), ("second", False, here)]
    assert not training.here()
    assert len(told) == 2


def test_nobody_is_elsewhere_before_the_first_call() -> None:
    assert not in_a_thread(TrainingThread().elsewhere)


def test_a_forked_child_may_train_in_any_thread() -> None:
    training = TrainingThread()
    in_a_thread(training.here)
    training.reset()
    assert training.here()
