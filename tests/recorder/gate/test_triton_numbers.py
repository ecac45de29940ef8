"""The numbers of the gate by Triton's kernels: what is launched on what, and what answers where nothing can be."""

from __future__ import annotations

import sys

import pytest
import torch

from debugtracer import errors
from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.triton_numbers import TABLES, TritonNumbers, is_packed


def test_without_triton_torch_s_operators_answer_and_the_failure_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    monkeypatch.setattr(errors, "failures", {})
    monkeypatch.setitem(sys.modules, "triton", None)
    kernels, gradients = TritonNumbers({"cpu"}), [torch.tensor([3.0, 4.0])]
    ours, theirs = (one.judged(gradients, [], None, True) for one in (kernels, DeviceNumbers()))
    assert ours is not None and theirs is not None and torch.equal(ours.numbers, theirs.numbers)
    assert kernels.off and kernels.l2(gradients) == 5.0
    assert [failure.count for failure in errors.failures.values()] == [1]


def test_the_host_is_left_to_torch() -> None:
    kernels = TritonNumbers()
    assert kernels.l2([torch.tensor([3.0, 4.0])]) == 5.0 and not kernels.off


def test_chunks_cover_every_element_once_and_few_lists_are_remembered() -> None:
    kernels, place = TritonNumbers({"cpu"}), torch.device("cpu")
    owners, offsets, counts = kernels.chunks_of(place, [torch.empty(n) for n in (3, 8, 9, 16, 1)], 8)
    assert owners.tolist() == [0, 1, 2, 2, 3, 3, 4]
    assert offsets.tolist() == [0, 0, 0, 8, 0, 8, 0] and counts.tolist() == [3, 8, 8, 1, 8, 8, 1]
    for n in range(2 * TABLES):
        kernels.chunks_of(place, [torch.empty(n + 1)], 8)
        kernels.pointers_of(place, [torch.empty(n + 1)])
    assert len(kernels.chunks) == len(kernels.addresses) == TABLES


def test_addresses_are_sent_again_where_a_tensor_has_moved() -> None:
    kernels, place = TritonNumbers({"cpu"}), torch.device("cpu")
    one, two = torch.zeros(4), torch.zeros(4)
    first = kernels.pointers_of(place, [one])
    assert kernels.pointers_of(place, [one]) is first and first.tolist() == [one.data_ptr()]
    assert kernels.pointers_of(place, [two]).tolist() == [two.data_ptr()]


@pytest.mark.parametrize(
    ("tensor", "packed"),
    [
        (torch.zeros(4, 6), True),
        (torch.zeros(4, 6).t(), False),
        (torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), True),
        (torch.zeros(1, 2, 3, 4, 5).to(memory_format=torch.channels_last_3d), True),
        (torch.zeros(20)[::2], False),
    ],
)
def test_what_fills_one_block_of_memory(tensor: torch.Tensor, packed: bool) -> None:
    assert is_packed(tensor) is packed
