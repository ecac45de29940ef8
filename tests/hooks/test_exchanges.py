"""Exchanges between ranks are written down before they are made."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from debugtracer.hooks.exchanges import ExchangesHook, sizes_of_lists, sizes_of_tensors
from debugtracer.trace.exchange import LAST_EXCHANGES, exchanges_of


@pytest.fixture
def alone(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield tmp_path
    dist.destroy_process_group()


def test_the_last_calls_are_in_the_file(alone):
    hook, plain = ExchangesHook(lambda: alone), dist.all_to_all_single
    hook.install()
    try:
        got = torch.empty(6, 2)
        for _ in range(6):
            dist.all_to_all_single(got, torch.ones(6, 2))
        hook.pause()
        dist.all_to_all_single(got, torch.ones(6, 2))
        hook.resume()
        assert bool((got == 1).all())
    finally:
        hook.remove()
    assert dist.all_to_all_single is plain
    told = exchanges_of((alone / LAST_EXCHANGES).read_text())
    assert [e.number for e in told] == [2, 3, 4, 5]
    assert {(e.call, e.sent, e.received, e.ranks) for e in told} == {("all_to_all_single", (12,), (12,), (0,))}
    assert told[0].file.endswith("test_exchanges.py")


def test_nothing_is_written_for_a_program_alone(alone):
    hook = ExchangesHook(lambda: None)
    hook.install()
    try:
        dist.all_to_all_single(torch.empty(2), torch.ones(2))
    finally:
        hook.remove()
    assert not (alone / LAST_EXCHANGES).exists()


def test_sizes_are_in_elements():
    given = {"input": torch.ones(6, 2), "output": torch.ones(8, 2), "output_split_sizes": [3, 5]}
    assert sizes_of_tensors(2, given) == ((6, 6), (6, 10))
    lists = {"input_tensor_list": [torch.ones(3), torch.ones(0)], "output_tensor_list": [torch.ones(2, 2)]}
    assert sizes_of_lists(2, lists) == ((3, 0), (4,))
