"""Input lengths of a CTC loss, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.loss.ctc_lengths import labels_of
from debugtracer.trace.facts.ctc_call import CtcCall
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Encoder(nn.Module):
    """Subsamples by 2, and divides the lengths by what it is told."""

    def __init__(self, divisor):
        super().__init__()
        self.divisor = divisor
        self.narrow, self.out = nn.Conv1d(4, 8, 3, stride=2, padding=1), nn.Linear(8, 6)

    def forward(self, x, lengths):
        shorter = (lengths + self.divisor - 1) // self.divisor
        return self.out(self.narrow(x.mT).mT).log_softmax(2), shorter.to(torch.int32)


def a_batch(dice, step, flat, labels, fixed):
    lengths = torch.randint(12, 30 + 3 * step, (8,), generator=dice)
    counts = torch.full((8,), labels)
    width = 64 if fixed else int(lengths.max())
    rows = torch.randint(1, 6, (8, labels), generator=dice)
    rows[0, 1] = rows[0, 0]
    return torch.randn(8, width, 4, generator=dice), lengths, rows.flatten() if flat else rows, counts


def told(out, divisor, flat=False, labels=5, fixed=False, zero_infinity=True):
    torch.manual_seed(1)
    dice = torch.Generator().manual_seed(3)
    model, score = Encoder(divisor), nn.CTCLoss(zero_infinity=zero_infinity)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with under_watch(out):
        for step in range(5):
            x, lengths, rows, counts = a_batch(dice, step, flat, labels, fixed)
            logs, frames = model(x, lengths)
            loss = score(logs.transpose(0, 1), rows, frames, counts)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, CtcCall), findings(out, "ctc-lengths")


@pytest.mark.parametrize("flat", [False, True])
def test_rows_without_an_alignment_are_told_at_the_line_of_the_lengths(tmp_path, flat):
    found, said = told(tmp_path, 4, flat)
    assert found[0].impossible > 0 and found[0].rows == 8 and found[0].zero_infinity
    (finding,) = said
    assert finding.place.frame is not None and "// self.divisor" in finding.place.frame.code
    assert finding.place.symptom_frame is not None and "score(" in finding.place.symptom_frame.code


def test_short_lengths_are_told_where_every_row_has_an_alignment(tmp_path):
    found, said = told(tmp_path, 4, labels=2, zero_infinity=False)
    assert not any(f.impossible for f in found) and len(said) == 1


@pytest.mark.parametrize(("divisor", "fixed"), [(2, False), (2, True)])
def test_right_lengths_are_silent(tmp_path, divisor, fixed):
    found, said = told(tmp_path, divisor, fixed=fixed)
    assert len(found) >= 3 and said == []


def test_labels_of_rows_that_stand_one_after_the_other():
    assert labels_of(torch.tensor([1, 2, 2, 3]), [1, 3]) == [[1], [2, 2, 3]]
    assert labels_of(torch.tensor([[1, 0], [2, 2]]), [1, 2]) == [[1], [2, 2]]
