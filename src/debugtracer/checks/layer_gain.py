"""How the linear and convolution layers of a health snapshot start: the size of their outputs and by how much their
weights multiply."""

from __future__ import annotations

import math
from typing import NamedTuple

from debugtracer.trace.facts.health import Health, TensorHealth
from debugtracer.trace.number import as_float

# layers whose weight is (out, in, ...): what they do to white noise is known
WHITE = ("Linear", "Conv1d", "Conv2d", "Conv3d")


class Layer(NamedTuple):
    """A layer with a trainable weight at the first step."""

    name: str
    std: float
    """Of its outputs."""
    gain: float
    """rms of the weight times sqrt(fan-in): how much larger the outputs are than uncorrelated inputs."""
    fresh: bool
    """The weight looks drawn: a normal or uniform draw has no values far beyond its standard deviation, trained weights
    do."""


def layers_of(fact: Health) -> list[Layer]:
    """The linear and convolution layers in the order they ran, with their weights from before the first update."""
    weights, rows = {p.name: p for p in fact.params}, fact.of("weight")
    found = []
    for name, row in fact.of("activation").items():
        before, now = weights.get(f"{name}.weight"), rows.get(f"{name}.weight")
        if row.function in WHITE and before is not None and now is not None and now.shape and before.numel:
            fan_in = before.numel / now.shape[0]
            gain = as_float(before.weight_l2) / math.sqrt(before.numel) * math.sqrt(fan_in)
            found.append(Layer(name, as_float(row.std), gain, drawn(now)))
    return found


def drawn(weight: TensorHealth) -> bool:
    """True for no sampled value beyond 6 standard deviations: one in a billion of a normal draw (ours)."""
    return max(abs(as_float(weight.low)), abs(as_float(weight.high))) <= 6 * as_float(weight.std)
