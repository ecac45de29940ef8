"""The line that asks a loss for another reduction."""

from __future__ import annotations

import pytest

from debugtracer.callsites.origins.reduction_line import reduction_line
from debugtracer.trace.birth import Frame

CASES = {
    "where the loss is built": ('loss = nn.MSELoss(\n    reduction="sum",\n)\nloss(a, b)\n', 4, 2),
    "in the call": ('c = nn.L1Loss(reduction="sum")\nF.mse_loss(\n    a, b,\n    reduction="sum",\n)\n', 2, 4),
    "of old": ("loss = nn.MSELoss(size_average=False)\nloss(a, b)\n", 2, 1),
    "the mean": ("loss = nn.MSELoss()\nloss(a, b)\n", 2, None),
    "computed": ("loss = nn.MSELoss(reduction=kind)\nloss(a, b)\n", 2, None),
    "two of them": ('x = nn.L1Loss(reduction="sum")\ny = nn.MSELoss(reduction="sum")\ny(a, b)\n', 3, None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_line(tmp_path, case):
    text, called, line = CASES[case]
    file = tmp_path / "train.py"
    file.write_text(text)
    found = reduction_line(Frame(str(file), called), "sum")
    assert (found.line if found is not None else None) == line


def test_nothing_for_a_call_that_is_not_known():
    assert reduction_line(None, "sum") is None
