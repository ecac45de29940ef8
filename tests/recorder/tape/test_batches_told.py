"""What a loader and a batch say of themselves, and what the log lets go."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
import torch

from debugtracer.recorder.tape import batches
from debugtracer.recorder.tape.batches import Batch, BatchLog, LoaderInfo, is_referred_to
from debugtracer.trace.birth import Frame

LINE, OTHER_LINE = Frame("/train.py", 7), Frame("/train.py", 8)


class Data:
    """A dataset of the program."""

    def __len__(self) -> int:
        return 12


class Loader:
    """A loader of the program."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset


def an_info(
    loader: Any, data: Any = None, dataset: str = "Data", frame: Frame | None = LINE, keeps_order: bool = True
) -> LoaderInfo:
    reference = weakref.ref(data) if data is not None else None
    info = LoaderInfo(weakref.ref(loader), dataset, 4, 0, "RandomSampler", frame, reference)
    info.keeps_order = keeps_order
    return info


def gone(data: Any = None, **changes: Any) -> LoaderInfo:
    """The loader of a pass that is over."""
    return an_info(Loader(None), data, **changes)


def a_batch(info: LoaderInfo, *tensors: torch.Tensor, indices: tuple[int, ...] | None = None, rows: int = 4) -> Batch:
    leaves = [(f"batch[{n}]", weakref.ref(t)) for n, t in enumerate(tensors)]
    return Batch(info, indices, 0, 0.0, leaves, rows, held=list(tensors))


def test_a_pass_goes_on_where_the_line_and_the_dataset_are_the_same_and_the_loader_is_gone() -> None:
    data, other, loader = Data(), Data(), Loader(None)
    now, successor_of = an_info(loader, data), gone(Data())
    assert now.goes_on(gone(data))
    assert now.goes_on(gone())
    assert now.goes_on(successor_of), "a dataset that is gone too has a successor"
    assert an_info(loader).goes_on(gone())
    assert not now.goes_on(gone(other))
    assert not an_info(loader).goes_on(gone(data))
    assert not now.goes_on(gone(data, frame=OTHER_LINE))
    assert not now.goes_on(gone(data, dataset="Other"))
    assert not an_info(loader, data, frame=None).goes_on(gone(data, frame=None))
    assert not now.goes_on(an_info(loader, data))


def test_the_length_is_that_of_the_dataset_also_where_the_loader_is_gone() -> None:
    data, loader, lost = Data(), Loader(Data()), gone(Data())
    assert an_info(loader).dataset_len() == 12
    assert an_info(loader, data).dataset_len() == 12
    assert gone(data).dataset_len() == 12
    assert gone().dataset_len() is None
    assert lost.dataset_len() is None
    loader.dataset = object()
    assert an_info(loader, data).dataset_len() is None


def test_lines_that_are_not_known_are_none() -> None:
    info = gone()
    assert (info.made("batch[0]"), info.spoiled("batch[0]", True), info.spoiled("batch[0]", False)) == ((), (), ())


def test_lines_are_those_of_the_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    info = gone()
    monkeypatch.setattr(batches, "made_first", lambda links: tuple(links))
    monkeypatch.setattr(batches, "nonfinite_first", lambda links, some, heard: (*links, some, heard))
    monkeypatch.setattr(batches, "sample_origin", lambda dataset, collate, frame, path: (dataset, collate, frame, path))
    assert info.made("x") == (None, None, LINE, "x")
    assert info.spoiled("x", True) == (None, None, LINE, "x", True, ())
    data, loader = Data(), Loader(None)
    assert an_info(loader, data).made("x")[0] is data
    loader.dataset, loader.collate_fn = other, collate = Data(), Data()  # type: ignore[attr-defined]
    assert an_info(loader, data).made("x")[:2] == (other, collate)


def test_samples_of_a_batch_whose_order_is_not_known_are_known_for_all_rows_alone() -> None:
    loader = Loader(None)
    sorted_rows = a_batch(an_info(loader, keeps_order=False), indices=(5, 9, 7))
    assert sorted_rows.samples([2, 0, 1]) == (7, 5, 9)
    assert sorted_rows.samples([0, 1]) is None
    in_order = a_batch(an_info(loader), indices=(5, 9, 7))
    assert in_order.samples([2, 0]) == (7, 5)
    assert in_order.samples([-1]) is None
    assert in_order.samples([]) == ()
    assert a_batch(an_info(loader, keeps_order=False)).samples([0]) is None


def test_an_iterator_is_known_as_long_as_it_lives() -> None:
    info, iterator = gone(), Data()
    info.iterated(iterator)
    assert info.iterator is not None and info.iterator() is iterator


def test_earlier_samples_are_those_of_the_same_loader_spread_over_what_there_is() -> None:
    log, one, other = BatchLog(), Loader(None), Loader(None)
    mine, theirs = an_info(one), an_info(other)
    fetched = [a_batch(mine, indices=(n, n + 10)) for n in range(4)]
    for batch in (fetched[0], a_batch(theirs, indices=(50,)), a_batch(mine), *fetched[1:]):
        log.add(batch)
    assert log.earlier(fetched[3], 6, ()) == (2, 12, 1, 11, 0, 10)
    assert log.earlier(fetched[3], 3, ()) == (2, 1, 0)
    assert log.earlier(fetched[3], 2, (12, 2)) == (1, 0)
    assert log.earlier(fetched[0], 6, ()) == ()
    assert log.earlier(a_batch(mine), 6, ()) == ()
    assert log.earlier(fetched[3], 9, ()) == (2, 12, 1, 11, 0, 10)


def test_the_rows_of_a_view_are_those_of_its_leaf_or_of_the_copy_it_was_cut_from() -> None:
    log, loader = BatchLog(), Loader(None)
    x, y = torch.arange(8.0).reshape(4, 2), torch.arange(3.0)
    log.add(a_batch(an_info(loader), x, y))
    copy = x.clone()
    log.moved(x, copy)
    for whole in (x, copy):
        held = log.held_rows(whole[1:3])
        assert held is not None and tuple(held.at) == (1, 2)
    assert log.held_rows(y[1:]) is None, "it has no row for each sample"
    assert log.held_rows(torch.ones(4)) is None
    unknown = torch.ones(4)
    log.add(Batch(an_info(loader), None, 0, 0.0, [("batch", weakref.ref(unknown))], None, held=[unknown]))
    assert log.held_rows(unknown) is None


def test_what_was_let_go_before_the_step_is_not_released_with_it() -> None:
    log, loader = BatchLog(keep=1), Loader(None)
    first, second = (a_batch(an_info(loader), torch.ones(2)) for _ in range(2))
    log.add(first)
    log.add(second)
    assert (first.held, log._fresh) == ([], [second])
    log.step_done()
    assert log._step_start == [second] and second.held
    log.step_done()
    assert not second.held and not log._held


def test_late_batches_of_either_step_are_made_when_one_is_asked_for() -> None:
    for steps in (0, 1):
        log, loader, x = BatchLog(), Loader(None), torch.ones(4)
        made = a_batch(an_info(loader), x)
        log.add_late([x], lambda made=made: made)  # type: ignore[misc]
        for _ in range(steps):
            log.step_done()
        assert log.last() is not None
        assert log.find(x) is not None
        assert (log._late, log._late_before) == ([], [])


def test_as_many_late_batches_wait_as_are_held() -> None:
    log, loader, made = BatchLog(keep=2), Loader(None), []
    for number in range(3):
        x = torch.ones(1)
        log.add_late([x], lambda n=number, x=x: made.append(n) or a_batch(an_info(loader), x))  # type: ignore[func-returns-value,misc]
        assert made == ([] if number < 2 else [0, 1, 2])


def test_data_is_let_go_only_where_nobody_else_can_hold_a_part() -> None:
    kept = torch.ones(1)
    assert not is_referred_to([torch.ones(1), torch.ones(1)])
    assert not is_referred_to((torch.ones(1),))
    assert not is_referred_to([])
    assert is_referred_to([torch.ones(1), kept])
    assert is_referred_to(torch.ones(1))
    assert is_referred_to({"x": torch.ones(1)})
    assert is_referred_to([torch.ones(1), 3])


def test_eight_batches_are_held() -> None:
    log, loader = BatchLog(), Loader(None)
    fetched = [a_batch(an_info(loader), torch.ones(1)) for _ in range(9)]
    for batch in fetched:
        log.add(batch)
    assert [bool(batch.held) for batch in fetched] == [False] + [True] * 8
    assert log.latest() == fetched
