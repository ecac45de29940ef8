"""Codes for missing values in the batches of real loops."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from debugtracer.observers.data.repeated_extremes import shows
from debugtracer.trace.facts.repeated_extreme import RepeatedExtreme
from tests.observers.told import facts, findings
from tests.watching import under_watch

CODED = tuple(range(5, 400, 20))


class Hours(Dataset):
    def __init__(self, code=-999.0, masked=False):
        torch.manual_seed(0)
        self.gauges, self.flour, self.masked = torch.rand(400, 3), torch.rand(400), masked
        self.there = torch.ones(400, 3)
        if code is not None:
            self.gauges[CODED, 1], self.there[CODED, 1] = code, 0.0

    def __len__(self):
        return len(self.gauges)

    def __getitem__(self, hour):
        given = self.gauges[hour], self.flour[hour]
        return (*given, self.there[hour]) if self.masked else given


def run(out, dataset, loss, epochs=2):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    with under_watch(out):
        loader = DataLoader(dataset, batch_size=20, shuffle=True)
        for _ in range(epochs):
            for x, y, *_ in loader:
                optimizer.zero_grad()
                loss(model, x, y).backward()
                optimizer.step()
    return facts(out, RepeatedExtreme)


def plain(model, x, y):
    return (model(x).squeeze(1) - y).square().mean()


def test_a_code_is_emitted_with_its_samples_and_told_once(tmp_path):
    found = run(tmp_path, Hours(), plain)
    last = found[-1]
    assert (last.path, last.column, last.value, last.handled, last.again) == ("batch[0]", 1, -999.0, False, True)
    assert last.samples == CODED and last.rows == 2 * len(CODED) and last.of == 800
    assert [f.looked for f in found] == [20, 40]
    assert [f.severity for f in findings(tmp_path, "repeated-extreme")] == ["warning"]


def test_a_short_run_is_told_at_its_end(tmp_path):
    class Few(Hours):
        def __len__(self):
            return 120

    assert [f.looked for f in run(tmp_path, Few(), plain)] == [12]
    assert len(findings(tmp_path, "repeated-extreme")) == 1


def compared(model, x, y):
    known = x[:, 1] != -999.0
    return plain(model, x[known], y[known])


def bounded(model, x, y):
    return plain(model, x.clamp(min=-1.0), y)


@pytest.mark.parametrize("loss", [compared, bounded])
def test_a_program_that_knows_its_code_is_left_alone(loss, tmp_path):
    assert all(f.handled for f in run(tmp_path, Hours(), loss))
    assert findings(tmp_path, "repeated-extreme") == []


def test_a_mask_in_the_batch_shows_the_places(tmp_path):
    assert all(f.handled for f in run(tmp_path, Hours(masked=True), plain))
    assert findings(tmp_path, "repeated-extreme") == []


@pytest.mark.parametrize("code", [None, -2.0])
def test_without_a_code_and_with_a_near_one_nothing_is_emitted(code, tmp_path):
    assert run(tmp_path, Hours(code), plain) == []


def test_a_mask_of_rows_or_of_places_shows_them():
    there = torch.zeros(4, 3, dtype=torch.bool)
    there[1, 2] = True
    assert shows(there.float(), there) and shows((~there).long(), there) and shows(there.any(1), there)
    assert not shows(torch.ones(4, 3), there) and not shows(torch.rand(4, 3), there)
    assert not shows(torch.tensor(1.0), there) and not shows(torch.ones(5), there)
