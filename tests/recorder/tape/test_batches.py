"""Facts about the log of batches: what it finds, and that it keeps no more than it says."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from torch.overrides import TorchFunctionMode

from debugtracer.recorder.state.leaves import leaves_of, rows_of
from debugtracer.recorder.tape.batches import FINDABLE, Batch, BatchLog, LoaderInfo
from debugtracer.trace.birth import Frame


class Loader:
    dataset = range(100)


LOADER = Loader()
INFO = LoaderInfo(weakref.ref(LOADER), "range", 4, 0, "RandomSampler", Frame("/train.py", 7))


def a_batch(data, indices=None, number=0):
    leaves = leaves_of(data)
    return Batch(
        INFO,
        indices,
        number,
        0.0,
        [(path, weakref.ref(leaf)) for path, leaf in leaves],
        rows_of(data, leaves),
        held=[leaf for _, leaf in leaves],
    )


def alive(references):
    gc.collect()
    return sum(reference() is not None for reference in references)


def fill(log, count, step_every=0):
    references = []
    for number in range(count):
        x = torch.zeros(1000)
        references.append(weakref.ref(x))
        log.add(a_batch(x, number=number))
        if step_every and (number + 1) % step_every == 0:
            log.step_done()
    return references


def test_a_leaf_is_found_by_identity():
    log, x, y = BatchLog(), torch.zeros(4, 2), torch.zeros(4)
    batch = a_batch({"x": x, "y": y})
    log.add(batch)
    assert log.find(y) == (batch, "batch['y']")
    assert log.last() is batch


@pytest.mark.parametrize(
    "view", [lambda x: x[1:], lambda x: x.view(-1), lambda x: x.t(), lambda x: x.detach(), lambda x: x.chunk(2)[1]]
)
def test_a_view_is_found_by_its_storage(view):
    log, x = BatchLog(), torch.zeros(4, 2)
    batch = a_batch((x,))
    log.add(batch)
    assert log.find(view(x)) == (batch, "batch[0]")


def test_a_copy_and_a_stranger_are_not_found():
    log, x = BatchLog(), torch.zeros(4, 2)
    log.add(a_batch(x))
    assert log.find(x.clone()) is None
    assert log.find(torch.ones(3)) is None
    assert BatchLog().find(x) is None


def test_a_tensor_at_the_address_of_a_dead_one_is_not_found():
    log = BatchLog(keep=1)
    fill(log, 50)
    assert all(log.find(torch.zeros(1000)) is None for _ in range(200))


def test_a_tensor_handed_out_twice_belongs_to_the_later_batch():
    log, x = BatchLog(), torch.zeros(4)
    log.add(a_batch(x))
    later = a_batch([x])
    log.add(later)
    assert log.find(x) == (later, "batch[0]")


def test_sparse_tensors_are_found_by_identity():
    log, x = BatchLog(), torch.eye(3).to_sparse()
    batch = a_batch([x])
    log.add(batch)
    assert log.find(x) == (batch, "batch[0]")


def test_looking_up_is_not_seen_by_function_modes():
    class Seen(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            calls.append(function)
            return function(*args, **(kwargs or {}))

    log, x, calls = BatchLog(), torch.zeros(4, 2), []
    batch, view = a_batch(x), x[1:]
    with Seen():
        log.add(batch)
        assert log.find(view) == (batch, "batch")
        assert log.find(x) == (batch, "batch")
    assert calls == []


def test_batches_of_this_and_the_last_step_are_held():
    assert alive(fill(BatchLog(keep=100), 12, step_every=4)) == 4
    log = BatchLog(keep=100)
    references = fill(log, 12, step_every=4)
    references += fill(log, 3)
    assert alive(references) == 7


def test_never_more_than_keep_batches_are_held_without_a_step():
    assert alive(fill(BatchLog(keep=8), 1000)) == 8


def test_memory_does_not_grow_over_many_steps():
    log = BatchLog()
    assert alive(fill(log, 3000, step_every=1)) == 1
    assert len(log._recent) == FINDABLE
    assert max(len(log._places), len(log._storages)) <= FINDABLE
    assert len(log._fresh) + len(log._step_start) + len(log._held) <= 2


def test_a_batch_the_user_keeps_is_found_after_it_was_let_go():
    log, x = BatchLog(keep=2), torch.zeros(4)
    batch = a_batch(x)
    log.add(batch)
    fill(log, 20)
    assert not batch.held
    assert log.find(x) == (batch, "batch")


def test_clear_forgets_everything():
    log = BatchLog()
    references = fill(log, 5, step_every=2)
    log.clear()
    assert alive(references) == 0
    assert log.last() is None


def test_facts_are_those_of_the_loader_and_the_batch():
    facts = BatchLog().facts(a_batch(torch.zeros(2), indices=(5, 9)))
    assert (facts.dataset, facts.dataset_len, facts.batch_size, facts.sampler, facts.indices) == (
        "range",
        100,
        4,
        "RandomSampler",
        (5, 9),
    )
    assert facts.frame == Frame("/train.py", 7)


def test_samples_are_each_named_once_and_unknown_rows_make_them_unknown():
    batch = a_batch(torch.zeros(3), indices=(5, 9, 5))
    assert batch.samples([0, 1, 2]) == (5, 9)
    assert batch.samples([1]) == (9,)
    assert batch.samples([3]) is None
    assert a_batch(torch.zeros(3)).samples([0]) is None


def late(log, data, number=0):
    log.add_late(data, lambda: a_batch(data, number=number))


def test_a_late_batch_is_made_when_somebody_asks():
    log, first, second = BatchLog(), [torch.zeros(4)], [torch.ones(4)]
    late(log, first, 0)
    late(log, second, 1)
    assert log.find(second[0][:2]) is not None
    assert log.find(first[0])[0].number == 0
    assert log.last().number == 1


def test_a_late_batch_is_let_go_with_the_step_after_its_own():
    log, x = BatchLog(), torch.zeros(1000)
    reference = weakref.ref(x)
    late(log, [x])
    del x
    log.step_done()
    assert alive([reference]) == 1
    log.step_done()
    assert alive([reference]) == 0
    assert log.last() is None


@pytest.mark.parametrize("kept_by", ["a part", "a kind that is not looked into"])
def test_a_late_batch_that_is_still_used_is_found_later(kept_by):
    log, x = BatchLog(), torch.zeros(4)
    late(log, [x] if kept_by == "a part" else {"x": x})
    for _ in range(4):
        log.step_done()
    assert log.find(x) is not None


def test_more_late_batches_than_are_held_are_made_at_once():
    log, data = BatchLog(keep=2), [[torch.zeros(4)] for _ in range(3)]
    for number, batch in enumerate(data):
        late(log, batch, number)
    assert log.find(data[0][0])[0].number == 0
    log.clear()
    assert log.last() is None


def test_a_copy_made_for_the_device_is_found_once_it_is_adopted_and_until_the_step_is_over():
    log, x = BatchLog(), torch.randn(4, 2)
    x[1, 0] = float("nan")
    batch, following = a_batch([x, torch.arange(4)]), a_batch([torch.randn(4, 2), torch.arange(4)])
    log.add(batch)
    log.add(following)
    moved, labels, half = x.clone(), torch.arange(4), x.double()
    assert log.find(moved) is None
    log.adopt([moved, labels, half])
    assert log.find(moved) == (batch, "batch[0]") and log.find(half) == (batch, "batch[0]")
    assert log.find(labels) is None, "both batches have these labels"
    log.step_done()
    assert log.find(moved) is None


def test_what_no_batch_holds_is_not_adopted():
    log, x = BatchLog(), torch.randn(4, 2)
    log.add(a_batch(x))
    weight, changed = x.clone().requires_grad_(), x + 1
    log.adopt([weight, changed, torch.randn(4, 3), torch.zeros(0), torch.randn(4, 2).to_sparse()])
    assert [log.find(t) for t in (weight, changed)] == [None, None]


def test_a_leaf_is_found_by_its_copy_on_another_device_and_by_views_of_that_as_long_as_it_lives():
    log, leaf, other = BatchLog(), torch.ones(4, 3), torch.ones(4, 3)
    batch = a_batch([leaf])
    log.add(batch)
    copy, stranger, part = leaf.clone(), other.clone(), leaf[1:3].clone()
    log.moved(leaf, copy)
    log.moved(leaf[1:3], part)
    assert log.find(part) is None, "its rows are other rows"
    log.moved(other, stranger)
    assert log.find(copy) == log.find(copy[:, 1:]) == (batch, "batch[0]")
    assert log.find(stranger) is None
    log.step_done()
    assert log.find(copy) is not None, "evaluation has no steps"
    del copy
    assert log.find(torch.ones(4, 3)) is None
    log.clear()
    assert log.find(leaf) is None
