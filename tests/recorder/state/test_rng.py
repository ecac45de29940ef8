"""Facts about generator states: what is captured comes back bit by bit, and host generators are dropped only when
nothing draws."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import torch

from debugtracer.recorder.state.rng import HostDraws, RngState


def draws() -> tuple[list[float], list[float], float]:
    return torch.randn(3).tolist(), list(np.random.rand(3)), random.random()


def test_every_generator_comes_back() -> None:
    state = RngState()
    first = draws()
    assert draws() != first
    state.restore()
    assert draws() == first


def test_a_normal_draw_of_numpy_comes_back_with_its_second_half() -> None:
    np.random.randn()  # one half of a pair is cached now
    state = RngState()
    first = np.random.randn(3)
    state.restore()
    assert (np.random.randn(3) == first).all()


def test_with_torch_only_host_generators_are_left_alone() -> None:
    state = RngState(torch_only=True)
    first, host = torch.randn(3), (random.random(), np.random.rand())
    state.restore()
    assert torch.equal(torch.randn(3), first)
    assert (random.random(), np.random.rand()) != host


def test_capturing_draws_nothing() -> None:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    plain = draws()
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    RngState()
    assert draws() == plain


def watched(draw: Callable[[], object], calls: int) -> HostDraws:
    found = HostDraws()
    for _ in range(calls):
        before = RngState(torch_only=found.torch_only)
        draw()
        found.after(before)
    return found


@pytest.mark.parametrize("draw", [random.random, lambda: np.random.rand(), lambda: np.random.permutation(3)])
def test_a_call_that_draws_from_the_host_keeps_its_capture(draw: Callable[[], object]) -> None:
    assert not watched(draw, HostDraws.LEARN + 3).torch_only


def test_a_draw_in_one_of_the_watched_calls_is_enough() -> None:
    count = iter(range(100))
    assert not watched(
        lambda: random.random() if next(count) == HostDraws.LEARN - 1 else None, HostDraws.LEARN
    ).torch_only


@pytest.mark.parametrize("draw", [lambda: None, lambda: torch.randn(3), lambda: np.random.default_rng(0).random()])
def test_a_call_that_draws_nothing_from_the_host_is_captured_cheaply_after_the_first_calls(
    draw: Callable[[], object],
) -> None:
    assert not watched(draw, HostDraws.LEARN - 1).torch_only
    assert watched(draw, HostDraws.LEARN).torch_only


def test_six_hundred_and_twenty_four_draws_do_not_hide_a_draw() -> None:
    np.random.seed(0)
    np.random.rand()
    assert not watched(lambda: np.random.bytes(4 * 624), HostDraws.LEARN).torch_only
