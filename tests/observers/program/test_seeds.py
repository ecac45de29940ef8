"""Who seeded what, before and after the first batch."""

from __future__ import annotations

import random
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.model.target_trials import seed_all
from debugtracer.observers.program.seeds import Seeding, risk_of, whole_number
from debugtracer.trace.facts.seeds import SeedRow, Seeds
from tests.observers.observing import fit, observed

DATA = TensorDataset(torch.randn(8, 3), torch.arange(8) % 2)


def rows(facts: list[Seeds]) -> dict[str, SeedRow]:
    return {row.source: row for row in facts[-1].rows}


def test_the_table_of_a_run(tmp_path):
    def loop():
        torch.manual_seed(7)
        np.random.seed(8)
        fit(DataLoader(DATA, 4))

    seen = rows(observed(tmp_path, loop, Seeds))
    assert (seen["torch"].value, seen["torch"].risk, seen["torch"].frame.code) == (7, "", "torch.manual_seed(7)")
    assert (seen["numpy"].value, seen["numpy"].calls) == (8, 1)
    assert not seen["python"].seeded


def test_the_seeds_of_our_own_trials_are_not_the_programs(tmp_path):
    def loop():
        torch.manual_seed(7)
        fit(DataLoader(DATA, 4))
        seed_all(11)

    seen = rows(observed(tmp_path, loop, Seeds))
    assert (seen["torch"].value, seen["torch"].calls) == (7, 1)
    assert not seen["numpy"].seeded


def test_a_seed_from_the_clock_and_one_that_comes_late(tmp_path):
    def loop():
        torch.manual_seed(int(time.time()))
        loader = DataLoader(DATA, 4, shuffle=True)
        next(iter(loader))
        random.seed(3)
        fit(loader)

    seen = rows(observed(tmp_path, loop, Seeds))
    assert seen["torch"].risk.startswith("taken from the clock")
    assert (seen["python"].value, seen["python"].risk) == (3, "set after the data was first drawn")


def test_the_functions_do_what_they_did_and_are_restored(tmp_path):
    before = torch.manual_seed, random.seed, np.random.seed
    drawn: list = []

    def loop():
        generator = torch.manual_seed(5)
        random.seed(5)
        drawn.extend([generator is torch.default_generator, torch.rand(2).tolist(), random.random()])
        fit(DataLoader(DATA, 4))

    observed(tmp_path, loop, Seeds)
    torch.manual_seed(5)
    random.seed(5)
    assert drawn == [True, torch.rand(2).tolist(), random.random()]
    assert (torch.manual_seed, random.seed, np.random.seed) == before


def test_risks():
    assert risk_of(Seeding(42, (), 1, False)) == ""
    assert risk_of(Seeding(None, (), 1, False, unset=True)).startswith("seeded without a value")
    assert risk_of(Seeding(None, (), 1, False)) == ""
    assert risk_of(Seeding(time.time_ns(), (), 1, False)).startswith("taken from the clock")


def test_a_seed_may_be_any_whole_number():
    given = [7, torch.tensor(7), torch.tensor([7, 8])[1] - 1, "seven", 7.5, None]
    assert [whole_number(one) for one in given] == [7, 7, 7, None, None, None]
