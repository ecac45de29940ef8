"""A batch shorter than those before it, looked for in the frames of a crash."""

from __future__ import annotations

import linecache
import weakref
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from debugtracer.observers.program.short_last import short_last
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame

BATCH = 8
KEPT = DataLoader(range(27), batch_size=BATCH)
BUILT = next(n for n, line in enumerate(linecache.getlines(__file__), 1) if line.startswith("KEPT ="))


def a_loader(batch_size=BATCH):
    frame = Frame(__file__, BUILT, "<module>")
    return LoaderInfo(weakref.ref(KEPT), "range", batch_size, 0, "RandomSampler", frame)


def batches(*rows, loader=None):
    loader = loader or a_loader()
    return [Batch(loader, None, number, 0.0, [], n) for number, n in enumerate(rows)]


def died(program, rows=3, before=(8, 8, 8), loader=None, evaluating=False):
    *earlier, last = batches(*before, rows, loader=loader)
    with pytest.raises((RuntimeError, IndexError, ValueError)) as caught:
        program(torch.randn(rows, 5))
    return short_last(caught.value, last, [*earlier, last], evaluating)


def code(found):
    return linecache.getline(found.frame.file, found.frame.line).strip() if found and found.frame else None


class Settings:
    """Holds a size under another name than the loader's."""

    def __init__(self):
        self.options = SimpleNamespace(rows=BATCH)

    def start(self):
        return torch.zeros(1, self.options.rows, 4)

    def read(self, x):
        hidden = self.start()
        return nn.GRU(5, 4, batch_first=True)(x[:, None], hidden)


def masks(x):
    names = torch.arange(BATCH)
    mask = names[:, None] == names
    return (x @ x.T)[mask]


def views(x):
    return x.view(BATCH, -1)


def loops(x):
    total = 0.0
    for row in range(BATCH):
        total += x[row].sum()
    return total


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (masks, "names = torch.arange(BATCH)"),
        (views, "return x.view(BATCH, -1)"),
        (loops, "for row in range(BATCH):"),
        (Settings().read, "return torch.zeros(1, self.options.rows, 4)"),
    ],
)
def test_the_line_that_uses_the_usual_length_is_found(program, line):
    found = died(program)
    assert found is not None and (found.rows, found.usual, found.squeezed) == (3, 8, False)
    assert code(found) == line


def test_a_multiple_of_both_lengths_is_the_same_difference():
    found = died(lambda x: torch.cat([x, x])[torch.ones(2 * 8, dtype=torch.bool)])
    assert found is not None and (found.rows, found.usual) == (3, 8)


def test_a_batch_of_one_whose_dimension_was_dropped():
    def score(x):
        scores = x[:, :1].squeeze()
        return nn.functional.binary_cross_entropy_with_logits(scores, torch.zeros(len(x)))

    found = died(score, rows=1, evaluating=True)
    assert found is not None and (found.rows, found.squeezed, found.evaluating) == (1, True, True)
    assert code(found) == "scores = x[:, :1].squeeze()"


def test_a_squeeze_that_names_its_dimension_drops_nothing_else():
    def score(x):
        scores = x[:, :1].squeeze(1)
        return scores.sum(dim=3)

    assert died(score, rows=1) is None


def test_it_is_not_the_first_short_batch():
    assert died(masks, before=(8, 8, 3, 8)) is None


def test_a_batch_as_long_as_the_others():
    assert died(lambda x: x @ torch.zeros(3, 2), rows=8) is None


def test_the_first_batch_of_all_is_measured_by_what_the_loader_was_asked_for():
    assert died(masks, before=()) is not None
    assert died(masks, before=(), loader=a_loader(batch_size=None)) is None


def test_another_error_in_the_short_batch():
    def wrong_width(x):
        return x @ torch.zeros(7, 2)

    def wrong_index(x):
        return x[:, 5]

    assert died(wrong_width) is None
    assert died(wrong_index) is None


def test_lengths_of_two_or_less_say_nothing():
    assert died(lambda x: x + torch.zeros(2, 4), rows=1, before=(2, 2)) is None
    with pytest.raises(RuntimeError) as caught:
        torch.zeros(2) + torch.zeros(3)
    assert short_last(caught.value, None, [], False) is None


def test_widths_of_a_product_are_not_read_as_rows():
    """16 rows of 64 features before a table of 32: 32 and 16 are the usual rows and those of now by chance."""

    def program(x):
        return torch.randn(len(x), 2 * BATCH) @ torch.randn(BATCH, 5)

    assert died(program, rows=4) is None

    def rows_that_are_flattened(x):
        return x.reshape(1, -1) @ torch.randn(5 * BATCH, 2)

    assert died(rows_that_are_flattened, rows=4) is not None


def test_a_view_that_no_number_of_rows_would_fit_is_of_other_samples():
    """Pictures of another size before a flatten: 4 rows of 7 x 5 values, where 8 x 8 are expected."""

    def program(x):
        return (x[:, :, None] * torch.ones(7)).reshape(4, 35).view(-1, 8 * 8)

    assert died(program, rows=4) is None
    assert died(lambda x: x.view(-1, 4 * 5).view(8, 5), rows=4) is not None


def test_an_index_beyond_a_table_as_long_as_the_batch_is_of_the_table():
    """A table of 4 rows was given id 4 in a batch of 4: the usual length is a width on that line."""

    def program(x):
        table, ids = torch.zeros(4, BATCH), [0, 1, 4]
        return torch.stack([table[k] for k in ids]).view(-1, BATCH)

    assert died(program, rows=4) is None
