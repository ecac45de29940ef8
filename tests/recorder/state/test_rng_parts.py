"""Which generators a state holds, and which of another process are put back."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
import torch

from debugtracer.recorder.state import rng
from debugtracer.recorder.state.rng import HostDraws, RngState, restore_plain


def test_generators_of_the_host_are_left_out_where_only_torch_draws(monkeypatch):
    assert RngState(torch_only=True).python is None and RngState(torch_only=True).numpy is None
    whole = RngState()
    assert whole.python is not None and whole.numpy["bit_generator"] == "MT19937"
    monkeypatch.delitem(sys.modules, "numpy")
    assert RngState().numpy is None


def drawn():
    return torch.rand(1).item(), random.random(), float(np.random.rand())


def test_a_state_comes_back_from_plain_values():
    kept = RngState().plain()
    first = drawn()
    restore_plain(kept)
    assert drawn() == first and set(kept) == {"torch", "python", "numpy"}


def test_what_was_not_kept_is_not_put_back(monkeypatch):
    kept = RngState(torch_only=True).plain()
    assert set(kept) == {"torch", "python"} and kept["python"] is None
    torch_first, *_ = drawn()
    before = RngState()
    restore_plain(kept)
    assert RngState().python == before.python and torch.rand(1).item() == torch_first
    restore_plain({})
    whole = RngState().plain()
    monkeypatch.delitem(sys.modules, "numpy")
    restore_plain(whole)


def test_another_generator_of_numpy_is_not_kept():
    state = RngState()
    state.numpy = {"bit_generator": "PCG64"}
    assert "numpy" not in state.plain()


class Device:
    def __init__(self) -> None:
        self.restored = []

    def rng_states(self):
        return [torch.ones(1)]

    def restore_rng(self, states):
        self.restored.append(states)


def test_the_generators_of_a_device_come_back_where_there_are_some(monkeypatch):
    device = Device()
    monkeypatch.setattr(rng, "accelerator", lambda: device)
    kept = RngState().plain()
    restore_plain(kept)
    assert device.restored == [kept["device"]]
    restore_plain({key: value for key, value in kept.items() if key != "device"})
    assert len(device.restored) == 1


def learned(call, calls=1):
    draws = HostDraws()
    for _ in range(calls):
        before = RngState()
        call()
        draws.after(before)
    return draws


@pytest.mark.parametrize(
    ("call", "draws"),
    [(lambda: None, False), (random.random, True), (np.random.rand, True), (lambda: np.random.rand(700), True),
     (torch.rand, False)],
)  # fmt: skip
def test_a_call_that_draws_from_the_host_is_known(call, draws):
    found = learned(lambda: call(1) if call is torch.rand else call())
    assert found.draws is draws and found.torch_only is False


def test_the_capture_is_dropped_after_four_calls_that_drew_nothing():
    assert learned(lambda: None, 3).torch_only is False and learned(lambda: None, 4).torch_only is True
    late = learned(lambda: None, 4)
    before = RngState()
    random.random()
    late.after(before)
    assert late.draws is False and late.calls == 4
    unseen = HostDraws()
    unseen.after(RngState(torch_only=True))
    assert unseen.calls == 0


def test_the_words_of_a_generator_tell_a_draw_that_has_come_round():
    before = RngState()
    np.random.rand(312)  # as many words as the generator holds: its place is the same again
    draws = HostDraws()
    draws.after(before)
    assert draws.draws is True
