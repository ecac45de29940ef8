"""Facts about the thread that trains."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from debugtracer.probes.thread import TrainingThread

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


def test_a_move_to_another_thread_is_told_once() -> None:
    training, moves = TrainingThread(), []
    training.on_move = lambda: moves.append(threading.get_ident())
    assert in_a_thread(lambda: training.here() and training.here())
    assert len(moves) == 1
    assert not training.here()


def test_nobody_is_elsewhere_before_the_first_call() -> None:
    assert not in_a_thread(TrainingThread().elsewhere)


def test_a_forked_child_may_train_in_any_thread() -> None:
    training = TrainingThread()
    in_a_thread(training.here)
    training.forget()
    assert training.here()
