"""The lines that made a weight before the first step."""

from __future__ import annotations

import linecache

import torch
from torch import nn

from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.diagnosis.constructed_weights import constructed_lines
from debugtracer.recorder.state.roots import Roots
from debugtracer.trace.birth import Frame


class Scale(nn.Module):
    """A weight by a logarithm, a buffer by a division."""

    def __init__(self, signs):
        super().__init__()
        logs = torch.log(signs)
        self.logs = nn.Parameter(logs)
        self.register_buffer("inverse", 1 / signs)
        self.plain = nn.Parameter(signs.clone())

    def forward(self, x):
        return x * self.logs.exp()


class Twice(Scale):
    """Takes its weights from the class before."""


class Net(nn.Module):
    """Fills the bias of a layer of torch's."""

    def __init__(self, share):
        super().__init__()
        self.scale = Twice(share)
        self.head = nn.Linear(3, 3)
        nn.init.zeros_(self.head.weight)
        self.head.bias.data = torch.log(share / (1 - share))

    def forward(self, x):
        return self.head(self.scale(x))


def lines(name, heard=()):
    roots = Roots()
    model = Net(torch.tensor([0.5, -1.0, 1.0]))
    roots.add(model, None)
    return [linecache.getline(f.file, f.line).strip() for f in constructed_lines(name, roots, heard) or ()]


def test_the_logarithm_of_the_constructor_comes_first():
    assert lines("parameter scale.logs") == ["logs = torch.log(signs)", "self.logs = nn.Parameter(logs)"]


def test_a_registered_buffer():
    assert lines("buffer scale.inverse") == ['self.register_buffer("inverse", 1 / signs)']


def test_a_weight_of_a_layer_of_torch_is_filled_by_the_class_around_it():
    assert lines("parameter head.bias") == ["self.head.bias.data = torch.log(share / (1 - share))"]
    assert lines("parameter head.weight") == ["nn.init.zeros_(self.head.weight)"]


def test_what_numpy_has_warned_of_comes_first():
    text = [line.strip() for line in linecache.getlines(__file__)]
    at = text.index("self.logs = nn.Parameter(logs)") + 1
    heard = [NumericWarning("invalid value", (Frame(__file__, at),))]
    assert lines("parameter scale.logs", heard) == ["self.logs = nn.Parameter(logs)"]
    assert lines("parameter scale.logs", [NumericWarning("invalid value", (Frame(__file__, 1),))])[0].startswith("logs")


def test_nothing_is_said_of_other_tensors():
    assert lines("gradient head.bias") == []
    assert lines("parameter unknown.weight") == []
    roots = Roots()
    roots.add(nn.Sequential(nn.Linear(2, 2)), None)
    assert constructed_lines("parameter 0.weight", roots, ()) == ()
