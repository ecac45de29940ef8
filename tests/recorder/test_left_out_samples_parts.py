"""Which samples may be left out, of which dataset, and what takes their place."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from debugtracer.recorder import left_out_samples as module
from debugtracer.recorder.left_out_samples import LeftOutSamples


class Iterator:
    """Stands for a pass over a loader."""


def left_out(monkeypatch, known=(), listed=()):
    monkeypatch.setattr(module, "dataset_name", lambda dataset: dataset)
    made = LeftOutSamples({"A": set(listed)} if listed else {})
    if known:
        made.add("A", known)
    return made


@pytest.mark.parametrize(("length", "most"), [(None, 20), (0, 20), (4_199, 20), (10_000, 50)])
def test_so_many_samples_of_a_dataset_may_be_left_out(monkeypatch, length, most):
    made = left_out(monkeypatch)
    assert made.may_add("A", length, range(most)) and not made.may_add("A", length, range(most + 1))
    made.add("A", range(4))
    assert made.may_add("A", length, range(most)) and not made.may_add("A", length, range(4, most + 1))
    assert made.may_add("B", length, range(4, most + 1))


def test_a_sample_of_the_skip_list_counts_for_nothing(monkeypatch):
    made = left_out(monkeypatch, range(10), range(10))
    assert made.may_add("A", None, range(10, 30)) and not made.may_add("A", None, range(10, 31))


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ([1, 2, 3], [1, 1, 3]),
        ([2, 1, 3], [1, 1, 3]),
        ([1, 3], [1, 3]),
        ([2], [2]),
        ((1, 2, 3), (1, 2, 3)),
        (2, 2),
    ],
)
def test_a_neighbour_takes_the_place_of_a_sample_that_is_left_out(monkeypatch, index, expected):
    made, one = left_out(monkeypatch, [2]), Iterator()
    made.begun(SimpleNamespace(dataset="A"), one)
    assert made.replaced(one, index) == expected
    assert made.replaced_count == (isinstance(index, list) and expected != index)


def test_the_dataset_is_that_of_the_pass_else_of_the_one_that_began_last(monkeypatch):
    made, one, other = left_out(monkeypatch, [2]), Iterator(), Iterator()
    assert made.replaced(one, [1, 2]) == [1, 2]
    made.begins(SimpleNamespace(dataset="A"))
    made.begun(SimpleNamespace(dataset="B"), other)
    assert made.replaced(one, [1, 2]) == [1, 1] and made.replaced(other, [1, 2]) == [1, 2]
    made.begins(SimpleNamespace(dataset="B"))
    assert made.replaced(one, [1, 2]) == [1, 2]


def test_a_sample_of_the_list_is_told_of_once(monkeypatch, capsys):
    made, one = left_out(monkeypatch, [2, 3, 5], [2, 3]), Iterator()
    made.begun(SimpleNamespace(dataset="A"), one)
    made.replaced(one, [1, 5])
    assert capsys.readouterr().err == ""
    made.replaced(one, [1, 2, 3])
    made.replaced(one, [1, 2])
    said = capsys.readouterr().err
    assert said.count("sample 2, 3 of A came up") == 1 and said.count("debug-tracer") == 1


def test_a_batch_is_dropped_where_the_screen_says_so_until_the_next_run(monkeypatch):
    made = left_out(monkeypatch)
    assert made.drops("bad") is False and made.active is False
    made.screen_with(lambda data: data == "bad")
    assert made.drops("bad") is True and made.drops("good") is False
    made.replaced_count = 3
    made.reset()
    assert made.drops("bad") is False and made.replaced_count == 0
