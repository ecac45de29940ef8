"""A traceback as a value."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.callsites.crash_site import seen_module, seen_tensor, site_of, worker_frames
from debugtracer.trace.last_words import FORWARDS


def died(program):
    try:
        program()
    except Exception as error:
        return error
    raise AssertionError("it lived")


def test_modules_calls_and_tensors_are_those_of_the_innermost_call():
    model = nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 2))
    ids = torch.tensor([[0, 9]])
    site = site_of(died(lambda: model(ids)))
    assert [type(m).__name__ for m in site.modules] == ["Embedding", "Sequential"]
    assert site.torch_calls[0] == "embedding"
    assert site.tensors["input"] is ids
    assert site.call is not None
    assert "model(ids)" in site.call.code


def test_a_line_of_the_users_own_has_its_locals():
    def program():
        left, right = torch.zeros(3, 4), torch.zeros(3, 5)
        return left + right

    site = site_of(died(program))
    assert {name: tuple(t.shape) for name, t in site.tensors.items()} == {"left": (3, 4), "right": (3, 5)}
    assert site.modules == []


def test_the_traceback_of_a_worker_is_read_from_its_text():
    text = (
        f"Caught ValueError in DataLoader worker process 0.\nOriginal Traceback (most "
        f'recent call last):\n  File "{__file__}", line 3, in __getitem__\n'
    )
    assert [(f.file, f.line, f.function) for f in worker_frames(text)] == [(__file__, 3, "__getitem__")]
    assert worker_frames("plain") == ()


def test_the_traceback_of_a_spawned_rank_is_read_from_its_text():
    text = (
        "\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n"
        f'  File "{__file__}", line 9, in worker\n    prepare(x)\n  File "{__file__}", line 3, in prepare\n'
        f'  File "{__file__}", line 3, in {FORWARDS}\n'
    )
    assert [(f.line, f.function) for f in worker_frames(text)] == [(3, "prepare"), (9, "worker")]


def test_integers_have_a_range_and_modules_their_settings():
    seen = seen_tensor("target", torch.tensor([3, -1]))
    assert (seen.low, seen.high, seen.dtype, seen.shape) == (-1, 3, "int64", (2,))
    assert seen_tensor("x", torch.zeros(2)).low is None
    module = seen_module("head", nn.LayerNorm((4,)))
    assert (module.sizes["normalized_shape[0]"], module.dtype, module.device) == (4, "float32", "cpu")


class Tables(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(3, 2)
        self.out = nn.Linear(2, 1)


def test_the_line_that_sets_a_table_is_known_from_the_class_around_it():
    model = Tables()
    built = seen_module("words", model.words, [model.words, model]).built
    assert built is not None
    assert built.code == "self.words = nn.Embedding(3, 2)"
    assert seen_module("out", model.out, [model]).built.code == "self.out = nn.Linear(2, 1)"
    assert seen_module("words", model.words).built is None


class Failing(Dataset[int]):
    """Its sixth sample cannot be made."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        index += 2
        return list(range(7))[index]


def test_the_sample_whose_fetch_failed():
    assert site_of(died(lambda: list(DataLoader(Failing(), batch_size=4)))).sample == 5
    assert site_of(died(lambda: list(DataLoader(Subset(Failing(), [0, 6, 1]), batch_size=2)))).sample == 1
    assert site_of(died(lambda: [][3])).sample is None
