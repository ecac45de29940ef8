"""A step whose device died, executed again on the host: meta tensors stand for those that nobody can read."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.on_host import on_cpu, refused_on_host
from tests.recorder.tape.test_batches import a_batch


class Table(nn.Module):
    def __init__(self, rows: int) -> None:
        super().__init__()
        self.table, self.scale = nn.Embedding(rows, 4), 1.0
        self.register_buffer("places", torch.arange(3))

    def forward(self, ids: Tensor) -> Tensor:
        return self.table(ids).sum(1) * self.scale + self.places.sum()


def segment_of(*calls: tuple[Any, Any, tuple[Any, ...], dict[str, Any]]) -> Segment:
    segment = Segment(0)
    for index, (kind, function, args, kwargs) in enumerate(calls):
        entry = Entry(kind, function, args, kwargs, ("line", index))
        entry.index, entry.outputs = index, 1
        segment.entries.append(entry)
    return segment


def step(rows: int, ids: Tensor, labels: Tensor, log: BatchLog) -> Segment:
    """Ids and labels go to the device that died; table and loss work on it."""
    log.add(a_batch([ids, labels]))
    there = labels.to("meta")
    log.moved(labels, there)
    return segment_of(
        ("fn", Tensor.to, (Leaf(ids), "cuda:0"), {}),
        ("module", Table(rows).to("meta"), (Slot(0, 0, 0),), {}),
        ("fn", nn.functional.cross_entropy, (Slot(0, 1, 0), Leaf(there)), {"reduction": "mean"}),
        ("backward", None, (Slot(0, 2, 0),), {}),
    )


@pytest.mark.parametrize(
    ("rows", "label", "index", "says"),
    [(5, 3, 1, "index out of range in self"), (9, 4, 2, "Target 4 is out of bounds"), (9, 3, None, "")],
)
def test_the_call_that_the_host_refuses_is_found(rows: int, label: int, index: int | None, says: str) -> None:
    log, ids, labels = BatchLog(), torch.tensor([[1, 2], [7, 0]]), torch.tensor([0, label])
    segment, before = step(rows, ids, labels, log), torch.get_rng_state()
    refused = refused_on_host([segment], log)
    assert torch.equal(torch.get_rng_state(), before)
    if index is None:
        assert refused is None
    else:
        assert refused is not None and (refused.entry.index, refused.entry.frames) == (index, ("line", index))
        assert says in str(refused.error)


def test_whole_numbers_that_nobody_knows_are_refused_by_nothing() -> None:
    unknown = torch.zeros(2, 2, dtype=torch.int64, device="meta")
    segment = segment_of(("module", Table(5).to("meta"), (Leaf(unknown),), {}))
    assert refused_on_host([segment], BatchLog()) is None


def test_another_failure_is_no_answer() -> None:
    segment = segment_of(("fn", torch.linalg.inv, (Leaf(torch.zeros(2, 2)),), {}))
    with pytest.raises(ReplayRefused, match="singular"):
        refused_on_host([segment], BatchLog())


@pytest.mark.parametrize(
    ("given", "host"),
    [("cuda", "cpu"), ("cuda:1", "cpu"), ("mean", "mean"), (torch.device("meta"), torch.device("cpu"))],
)
def test_every_form_of_a_device_is_the_host(given: Any, host: Any) -> None:
    assert on_cpu(given) == host
