"""What is held in plain attributes."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from debugtracer.observers.checkpoint.plain_values import plain_values


class Scaler(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.tensor([1.0, 3.0])
        self.register_buffer("kept", torch.ones(2))
        self.weight = nn.Parameter(torch.ones(2))
        self.rate = 0.5
        self.width = 7
        self.table = torch.zeros(5000)
        self.vocabulary = {"a": 0, "b": 1}


class Standardiser:
    def __init__(self, centre: float) -> None:
        self.centre = np.full(4, centre)
        self.rows = 40


def held(*models: nn.Module) -> dict[str, tuple[int, float, float, tuple[int, ...]]]:
    with torch.no_grad():
        return {v.name: (v.size, v.mean, v.spread, v.counts) for v in plain_values(models)}


def test_statistics_of_a_part_are_read_and_nothing_that_a_state_dict_holds() -> None:
    found = held(nn.Sequential(Scaler()))
    vocabulary = found.pop("Scaler.vocabulary")
    assert found == {"Scaler.mean": (2, 2.0, 1.0, ()), "Scaler.rate": (1, 0.5, 0.0, ())}
    assert vocabulary[0] == 2


def test_another_vocabulary_of_the_same_words_is_another_value() -> None:
    one, other = Scaler(), Scaler()
    other.vocabulary = {"b": 0, "a": 1}
    assert held(one)["Scaler.vocabulary"] != held(other)["Scaler.vocabulary"]
    other.vocabulary = {"b": 1, "a": 0}
    assert held(one)["Scaler.vocabulary"] == held(other)["Scaler.vocabulary"]


def test_an_object_beside_the_loop_is_found_with_what_it_counts() -> None:
    scale = Standardiser(5.0)
    assert held() == {"Standardiser.centre": (4, 5.0, 0.0, (40,))}
    assert scale.rows == 40


def test_of_two_objects_of_one_class_neither_is_told() -> None:
    scales = Standardiser(5.0), Standardiser(6.0)
    one, other = scales
    assert held() == {}
    assert one is not other


def test_the_line_is_that_of_the_constructor() -> None:
    with torch.no_grad():
        frame = next(v.frame for v in plain_values([Scaler()]) if v.name == "Scaler.mean")
    assert frame is not None
    assert frame.code == "self.mean = torch.tensor([1.0, 3.0])"
