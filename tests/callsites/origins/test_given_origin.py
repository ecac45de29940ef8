"""What a class of a library was built with, back to the line that made it."""

from __future__ import annotations

import pytest
from torch import nn

from debugtracer.callsites.origins import given_origin as module
from debugtracer.callsites.origins.given_origin import given_origin

MAKES = "import numpy as np\n\n\ndef weights(counts):\n    share = counts / counts.sum()\n    return 1 / share\n\n\n"
USES = "def train(w):\n    return nn.CrossEntropyLoss({})\n\n\nmade = weights(np.ones(3))\ntrain(made)\n"


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """The lines found for an argument of a class where the program is this text."""

    def found(text, kind=nn.CrossEntropyLoss, name="weight"):
        file = tmp_path / f"train{len(list(tmp_path.iterdir()))}.py"
        file.write_text(text)
        monkeypatch.setattr(module, "program_files", lambda: [str(file)])
        return [link.frame.code for link in given_origin(kind, name)]

    return found


@pytest.mark.parametrize("given", ["w", "weight=w", "ignore_index=3, weight=w.float()"])
def test_the_weights_of_a_loss_are_followed_through_the_function_that_is_given_them(lines, given):
    found = lines(MAKES + USES.format(given))
    assert found[0] == "made = weights(np.ones(3))" and "return 1 / share" in found


def test_a_class_built_twice_with_weights_and_one_without_the_argument_say_nothing(lines):
    twice = MAKES + USES.format("w") + "other = nn.CrossEntropyLoss(weights(np.ones(4)))\n"
    assert lines(twice) == [] and lines(MAKES + USES.format("")) == []
    assert lines(MAKES + USES.format("w"), nn.CrossEntropyLoss, "unknown") == []


def test_a_class_that_says_nothing_of_its_arguments_has_none(lines):
    assert lines(MAKES + USES.format("w"), type, "weight") == []
