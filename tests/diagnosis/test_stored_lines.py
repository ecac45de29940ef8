"""The line that put a bad value into the store of a data set."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from debugtracer.diagnosis.value_lines import stored_lines
from debugtracer.trace.birth import Frame
from tests.watching import incidents, under_watch


class Pressures(Dataset):
    """Readings in pascal, kept small."""

    def __init__(self):
        raw = torch.rand(40, 3, generator=torch.Generator().manual_seed(0)) * 100
        raw[17, 2] = 101325.0
        self.bars = torch.arange(40.0)
        self.readings = raw.half()

    def __len__(self):
        return len(self.readings)

    def __getitem__(self, at):
        row = self.readings[at].float() / 100
        return row, self.bars[at]


def test_the_cast_is_named_and_not_the_line_that_reads(tmp_path):
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for x, y in DataLoader(Pressures(), batch_size=8):
            optimizer.zero_grad()
            (model(x).squeeze(1) - y).square().mean().backward()
            optimizer.step()
    incident = incidents(tmp_path)[0]
    verdict = incident.verdict
    assert (verdict.kind, verdict.sample_index) == ("data_nonfinite", (17,))
    assert "raw.half()" in Path(__file__).read_text().splitlines()[verdict.line - 1]
    assert "kept in float16, where a number beyond 65504 is Inf" in verdict.summary
    assert verdict.remedy[0].startswith("keep the values in float32")


@pytest.mark.parametrize("expression", ["row[0]", "1 +", "f(x)"])
def test_what_is_no_attribute_of_the_data_set_is_not_followed(expression):
    assert stored_lines(Frame(__file__, 29), expression) == ()
