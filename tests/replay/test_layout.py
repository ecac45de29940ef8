"""Time first or batch first: what the loader drew, the labels and the modules say it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.replay.layout import time_first

TIMED = [nn.Sequential(nn.GRU(3, 4))]
PLAIN = [nn.Sequential(nn.Linear(3, 4), nn.LSTM(4, 4, batch_first=True))]
LABELS = torch.zeros(8)


@pytest.mark.parametrize(
    ("shape", "drawn", "modules", "answer"),
    [
        ((8, 12, 3), 8, TIMED, False),  # the loader drew 8, and only the first dimension is 8
        ((12, 8, 3), None, PLAIN, True),  # labels of 8 go with the second dimension
        ((12, 8, 3), None, TIMED, True),
        ((8, 8, 3), 8, TIMED, True),  # either could be it, and the model reads time first
        ((8, 8, 3), 8, PLAIN, False),
        ((12, 8, 3), 8, PLAIN, True),  # the loader drew 8, and only the second dimension is 8
        ((8, 3), None, PLAIN, False),
        ((8,), None, TIMED, False),
    ],
)
def test_rows_of_the_first_dimension(shape, drawn, modules, answer):
    assert time_first([torch.zeros(shape), LABELS], drawn, modules) is answer


def test_without_labels_and_loader_the_modules_decide():
    assert time_first([torch.zeros(12, 8)], None, [nn.TransformerEncoderLayer(8, 2)])
    assert not time_first([torch.zeros(12, 8)], None, [nn.TransformerEncoderLayer(8, 2, batch_first=True)])
