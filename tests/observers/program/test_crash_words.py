"""What the text of an exception says."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.program.crash_words import words_of


def raised(call) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 (each has words of its own)
        call()
    return caught.value


def test_torch_s_own_words_name_a_class_and_what_to_do():
    words = words_of(raised(lambda: nn.BCELoss()(torch.tensor([3.0]), torch.tensor([1.0]))))
    assert words is not None
    assert (words.kind, words.layer, words.op) == ("loss_misuse", "model", "aten::binary_cross_entropy")
    assert words.certainty >= 0.7
    assert "log line" not in words.because
    assert "data_nonfinite" in words.others
    assert words.remedies


def test_a_state_dict_that_does_not_fit():
    words = words_of(raised(lambda: nn.Linear(2, 2).load_state_dict({})))
    assert words is not None
    assert words.certainty >= 0.5


def test_an_exception_of_the_program_s_own_says_nothing():
    assert words_of(raised(lambda: {}["learning_rate"])) is None
    assert words_of(ValueError("the moon is full")) is None
