"""What a save remembers of the optimizers."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.checkpoint.training_state import (
    DataInUse,
    SavedState,
    lr_of,
    misplaced,
    same_data,
    settings_of,
    setup_of,
)
from debugtracer.trace.birth import Frame


def saved(*order: list[str]) -> SavedState:
    return SavedState(None, {"weights"}, 3, None, None, set(), list(order), None, None)


def test_the_setup_is_class_and_first_rate_whatever_a_schedule_made_of_it():
    optimizer = torch.optim.AdamW(nn.Linear(2, 1).parameters(), 0.5)
    optimizer.param_groups[0]["lr"] = 0.125
    assert (setup_of(optimizer), lr_of(optimizer)) == (("AdamW", 0.5), 0.125)
    optimizer.param_groups[0]["lr"] = torch.tensor(0.125)
    assert lr_of(optimizer) is None


def test_parameters_in_another_order_got_each_others_state():
    assert misplaced(["b", "a"], saved(["a", "b"])) == ("b <- a", "a <- b")
    assert misplaced(["a", "b"], saved(["a", "b"])) == ()
    assert misplaced(["a", "c"], saved(["a", "b"])) == ()


def test_data_of_the_same_line_are_the_same_where_a_length_is_unknown() -> None:
    line, other = Frame("/p/train.py", 47), Frame("/p/train.py", 60)
    assert same_data(DataInUse(line, 960), DataInUse(line, 960))
    assert same_data(
        DataInUse(line, None), DataInUse(line, 960)
    )  # the loader of a for statement is gone after its loop
    assert not same_data(DataInUse(line, 960), DataInUse(line, 480))
    assert not same_data(DataInUse(line, None), DataInUse(other, 960))
    assert not same_data(DataInUse(line, 960), None)
    assert same_data(None, DataInUse(line, 960)) is None


class Tones:
    def __init__(self, count: int, snr: float, files: list[str]) -> None:
        self.count, self.snr, self.files, self.seen = count, snr, files, 7


def test_a_dataset_that_was_given_other_settings_is_other_data() -> None:
    line = Frame("/p/train.py", 47)
    clean, noisy = (settings_of(Tones(512, snr, ["a"])) for snr in (20.0, -6.0))
    assert clean == {("count", 512), ("snr", 20.0)}
    assert same_data(DataInUse(line, 512, clean), DataInUse(line, 512, clean))
    assert not same_data(DataInUse(line, 512, clean), DataInUse(line, 512, noisy))
    assert same_data(DataInUse(line, 512, clean), DataInUse(line, 512))
    assert settings_of([1, 2]) == settings_of(None) == frozenset()


def test_an_optimizer_of_the_line_of_the_save_fits_it() -> None:
    line = Frame("/p/train.py", 20)
    saved = SavedState(None, set(), 4, 4, None, {("Adam", 0.1, line)}, [], None, None)
    assert saved.fits("Adam", 0.1, line, False)
    assert saved.fits("Adam", 0.1, None, True)
    assert not saved.fits("Adam", 0.1, None, False)
    assert not saved.fits("Adam", 0.2, line, True)
