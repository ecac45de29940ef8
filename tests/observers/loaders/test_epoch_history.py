"""One loader through its passes."""

from __future__ import annotations

import weakref

import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler, TensorDataset

from debugtracer.observers.loaders.epoch_history import EpochHistory
from debugtracer.recorder.tape.batches import Batch, LoaderInfo

ROWS = TensorDataset(torch.randn(40, 3), torch.arange(40))


def course_of(loader: DataLoader) -> EpochHistory:
    course = EpochHistory(0)
    course.info = LoaderInfo(weakref.ref(loader), "TensorDataset", loader.batch_size, 0, type(loader.sampler).__name__)
    return course


def a_batch(
    course: EpochHistory, tensor: torch.Tensor, indices: tuple[int, ...] | None, number: int, note: str = ""
) -> Batch:
    return Batch(
        course.info, indices, number, 0.0, [("batch", weakref.ref(tensor))], tensor.shape[0], note, held=[tensor]
    )


def test_what_the_sampler_does_is_read_from_its_kind():
    generator = torch.Generator()
    told = []
    loaders = [
        DataLoader(ROWS, 4),
        DataLoader(ROWS, 4, shuffle=True, generator=generator),
        DataLoader(ROWS, 4, sampler=DistributedSampler(ROWS, 2, 0)),
        DataLoader(ROWS, 4, sampler=DistributedSampler(ROWS, 2, 0, shuffle=False)),
        DataLoader(ROWS, batch_sampler=BatchSampler(RandomSampler(ROWS), 4, False)),
    ]
    for loader in loaders:
        course = course_of(loader)
        course.read_sampler()
        told.append((course.shuffles, course.shards, course.seeded))
    assert told == [
        (False, False, False),
        (True, False, True),
        (True, True, False),
        (False, True, False),
        (True, False, False),
    ]


def test_the_epoch_of_the_sampler_is_that_of_the_beginning():
    sampler = DistributedSampler(ROWS, 2, 0)
    loader = DataLoader(ROWS, 4, sampler=sampler)
    course = course_of(loader)
    seen = []
    for epoch in (0, 5):
        sampler.set_epoch(epoch)
        x = torch.randn(4, 3)
        course.turn(a_batch(course, x, (1, 2, 3, 4), 0))
        seen.append((course.now.number, course.now.sampler_epoch))
    assert seen == [(0, 0), (1, 5)]


def test_order_content_and_lost_rows():
    loader = DataLoader(ROWS, 4)
    course = course_of(loader)
    x, short = torch.randn(4, 3), torch.randn(2, 3)
    course.turn(a_batch(course, x, (0, 1, 2, 3), 0))
    course.add(a_batch(course, x, (0, 1, 2, 3), 0), 0)
    course.add(
        a_batch(
            course, short, None, 1, "the batch has 2 rows, the sampler drew 4 indices: collate_fn changed the rows"
        ),
        1,
    )
    now = course.now
    assert (now.batches, len(now.order), now.ascending, len(now.content), now.dropped, now.short) == (
        2,
        1,
        True,
        2,
        2,
        1,
    )
    course.add(a_batch(course, x, (3, 2, 1, 0), 2), 2)
    assert not now.ascending


def joined(*sizes: tuple[int, ...]) -> tuple[int, int]:
    """What is said to be lost of batches drawn of four samples, each of tensors with so many rows."""
    loader = DataLoader(ROWS, 4)
    course = course_of(loader)
    for number, rows in enumerate(sizes):
        held = [torch.randn(n, 3) for n in rows]
        leaves = [(f"batch[{n}]", weakref.ref(one)) for n, one in enumerate(held)]
        note = f"the batch has {rows[0]} rows, the sampler drew 4 indices: collate_fn changed the rows"
        batch = Batch(course.info, None, number, 0.0, leaves, rows[0], note, held=held)
        if not number:
            course.turn(batch)
        course.add(batch, number)
    return course.now.dropped, course.now.short


def test_graphs_whose_nodes_follow_one_another_lose_no_sample():
    assert joined((3, 3), (2, 2)) == (3, 2)
    assert joined((3, 3), (41, 41), (2, 2)) == (0, 0)
    assert joined((2, 2, 4), (3, 3, 4)) == (0, 0)
    assert joined((2, 2, 17), (2, 2, 9)) == (0, 0)


def test_passes_that_begin_alike_are_counted():
    loader = DataLoader(ROWS, 4)
    course = course_of(loader)
    x, y = torch.randn(4, 3), torch.randn(4, 3)
    for step in range(5):
        course.turn(a_batch(course, x, (0, 1, 2, 3), 0))
        course.add(a_batch(course, x, (0, 1, 2, 3), 0), step)
    assert (course.again.first, course.again.count, course.again.asked) == (0, 4, 1)
    course.add(a_batch(course, y, (4, 5, 6, 7), 1), 5)
    assert course.again.asked == 2
    course.turn(a_batch(course, y, (4, 5, 6, 7), 0))
    course.add(a_batch(course, y, (4, 5, 6, 7), 0), 6)
    assert (course.again.first, course.again.count) == (6, 0)


def test_a_loader_without_a_length_and_one_that_is_gone():
    loader = DataLoader(ROWS, 4)
    course = course_of(loader)
    assert (course.length(), course.gone()) == (10, False)
    del loader
    assert (course.length(), course.gone()) == (None, True)


def test_a_stream_that_hands_out_whole_batches_has_no_order():
    course = course_of(DataLoader(ROWS, None))
    for number in range(3):
        if not number:
            course.turn(a_batch(course, torch.randn(4, 3), (0,) * 4, 0))
        course.add(a_batch(course, torch.randn(4, 3), (number,) * 4, number), number)
    assert course.now is not None and course.now.ascending
    course.add(a_batch(course, torch.randn(4, 3), (1,) * 4, 3), 3)
    assert not course.now.ascending
