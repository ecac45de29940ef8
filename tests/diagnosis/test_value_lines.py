"""The lines that wrote the value an incident began with."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import msgspec
import pytest
import torch
from torch import nn

from debugtracer.diagnosis import value_lines as module
from debugtracer.diagnosis.value_lines import of_the_mask, spoiled, value_lines
from debugtracer.trace.birth import Birth, Frame


def features(path: str) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.zeros(3)
    share = x / x.sum()
    return share.to("cpu"), torch.ones(2)


def test_a_tensor_of_the_program_is_followed_by_its_name():
    share, other = features("a")
    made = value_lines(
        Birth(op=None, direction="input", kind="input", input_name="a tensor made before the step"), None, ""
    )
    assert other.isfinite().all()
    top = features.__code__.co_firstlineno
    assert [frame.line - top for frame in made][:1] == [2]
    assert share.isnan().all()


class Head(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("hidden", torch.ones(size, size).tril(-1))

    def forward(self, scores, keep):
        scores = scores.masked_fill(self.hidden == 0, float("-inf"))
        weights = torch.softmax(scores, -1)
        other = weights.masked_fill(keep, float("-inf"))
        return torch.softmax(other, -1)


def frame(text: str) -> Frame:
    lines, first = inspect.getsourcelines(Head)
    return Frame(__file__, first + next(i for i, line in enumerate(lines) if text in line))


def test_a_mask_of_the_modules_own_is_written_where_it_is_registered():
    found = of_the_mask(frame("weights = torch.softmax"))
    assert [f.line for f in found] == [frame("register_buffer").line, frame("self.hidden == 0").line]
    birth = Birth(op="aten::_softmax", direction="forward", kind="inf-inf", frames=(frame("weights = torch.softmax"),))
    assert value_lines(birth, None, "") == found


def test_a_mask_that_came_with_the_data_stays_where_it_was_used():
    assert of_the_mask(frame("return torch.softmax")) == ()
    assert value_lines(None, None, "") == ()


class Followed:
    """A loader that says what it was asked."""

    def made(self, name):
        return "made", name

    def spoiled(self, name, some, heard=()):
        return "spoiled", name, some


def followed(birth, ignored="", rows=8):
    return value_lines(birth, SimpleNamespace(loader=Followed(), rows=rows), ignored)


def test_a_bad_leaf_of_the_batch_is_followed_in_its_loader():
    bad = Birth(op=None, direction="input", kind="input", input_name="batch[0]", rows=(3,))
    assert followed(bad) == ("spoiled", "batch[0]", True)
    assert followed(msgspec.structs.replace(bad, rows=tuple(range(8)))) == ("spoiled", "batch[0]", False)
    assert followed(msgspec.structs.replace(bad, rows=None)) == ("spoiled", "batch[0]", False)
    assert followed(bad, rows=None) == ("spoiled", "batch[0]", False)
    assert value_lines(bad, None, "") == ()
    assert followed(msgspec.structs.replace(bad, input_name=None)) == ()
    assert followed(msgspec.structs.replace(bad, input_name="parameter w")) == ()


def test_labels_of_which_none_counts_are_the_leaf_to_follow():
    loss = Birth(op="aten::nll_loss_forward", direction="forward", kind="0/0")
    assert followed(loss, "batch[1]") == ("made", "batch[1]")
    bad = Birth(op=None, direction="input", kind="input", input_name="batch[0]")
    assert followed(bad, "batch[1]") == ("made", "batch[1]")
    assert value_lines(loss, None, "batch[1]") == ()


def test_infinities_that_the_step_wrote_are_followed_to_the_line_that_filled_them():
    here, fill = frame("return torch.softmax"), frame("keep, float")
    born = Birth(op="aten::_softmax", direction="forward", kind="inf-inf", frames=(here,), infinity=fill)
    assert value_lines(born, None, "") == (fill,)
    assert value_lines(msgspec.structs.replace(born, infinity=here), None, "") == ()


class Speech:
    def __init__(self):
        self.criterion = nn.CTCLoss(blank=0)

    def step(self, out):
        return self.criterion(out, out, out, out)


def test_a_ctc_loss_without_an_alignment_is_mended_where_it_was_built():
    lines, first = inspect.getsourcelines(Speech)
    called = Frame(__file__, first + next(i for i, text in enumerate(lines) if "return self" in text))
    (made,) = value_lines(Birth(op="aten::_ctc_loss", direction="forward", kind="overflow", frames=(called,)), None, "")
    assert made.line == first + 2


NAN = torch.tensor([1.0, float("nan")])


@pytest.mark.parametrize(
    ("value", "is_spoiled"),
    [
        (NAN, True),
        (torch.tensor([1.0, float("-inf")]), True),
        (torch.ones(2), False),
        (NAN.to_sparse(), True),
        (torch.ones(2).to_sparse(), False),
        (nn.Parameter(NAN.clone()), False),  # weights have causes of their own
        (NAN.clone().requires_grad_() * 2, False),  # the step computed it
        (torch.ones(2, dtype=torch.long), False),
        ([1.0, float("nan")], False),
    ],
)
def test_which_values_were_bad_before_the_step(value: object, is_spoiled: bool) -> None:
    assert spoiled(value) is is_spoiled


@pytest.mark.parametrize(("most", "is_spoiled"), [(NAN.nbytes - 1, False), (NAN.nbytes, True), (NAN.nbytes + 1, True)])
def test_a_value_is_read_up_to_a_number_of_bytes(monkeypatch, most: int, is_spoiled: bool) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", most)
    assert spoiled(NAN) is is_spoiled


@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_of_a_layout_that_is_not_known_nothing_is_read() -> None:
    assert not spoiled(NAN.reshape(1, 2).to_sparse_csr())
