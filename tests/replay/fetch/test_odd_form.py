"""A sample that the pipeline died of, beside others: where its value first had another form."""

from __future__ import annotations

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from debugtracer.checks.data.ragged_samples import RaggedSamples
from debugtracer.replay.fetch.odd_form import form_of
from debugtracer.trace.events import Found
from tests.watching import events, under_watch


class Pictures(Dataset):
    def __init__(self, odd, scales):
        self.stored = [np.ones((6, 6, 3), dtype=np.float32) for _ in range(24)]
        self.stored[odd] = np.ones((6, 6, 4), dtype=np.float32)
        self.scales = scales

    def __len__(self):
        return len(self.stored)

    def __getitem__(self, i):
        picture = self.stored[i]
        picture = turned(picture)
        return picture / self.mean() if self.scales else picture

    def mean(self):
        return torch.full((3, 1, 1), 0.5)


def turned(picture):
    return torch.from_numpy(picture).permute(2, 0, 1)


def found(out, scales, check):
    torch.manual_seed(0)
    model = torch.nn.Linear(108, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    try:
        with under_watch(out):
            for x in DataLoader(Pictures(17, scales), batch_size=4):
                model(x.flatten(1)).mean().backward()
                optimizer.step()
    except RuntimeError:
        pass
    return [e.finding for e in events(out) if isinstance(e, Found) and e.finding.check == check]


def test_the_line_where_the_form_first_differs_is_told_and_not_the_one_that_raised(tmp_path):
    (finding,) = found(tmp_path, True, "numerics/crash-text")
    assert finding.place.sample_index == (17,)
    assert finding.place.frame.code == "picture = self.stored[i]"
    assert finding.place.symptom_frame.code.startswith("return picture / self.mean()")
    assert "dimension 2 of size 4" in finding.message and "dimension 2 of size 3 in each of 6 other" in finding.message


def test_a_sample_that_can_be_made_and_does_not_stack_is_followed_too(tmp_path):
    (finding,) = found(tmp_path, False, "data/ragged-samples")
    assert RaggedSamples.kind == finding.kind and finding.place.sample_index == (17,)
    assert finding.place.frame.code == "picture = self.stored[i]"


def test_forms_are_of_types_sizes_and_parts():
    assert dict(form_of(torch.ones(2, 3)))["dimension 1 of size"] == "3"
    assert dict(form_of({"a": [1, None]}))["['a'] [1] type"] == "NoneType"
    assert dict(form_of((1.0, "x")))["length"] == "2"
