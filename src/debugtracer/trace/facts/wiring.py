"""How the parameters of the model, the optimizers and the gradients hang together at one step.

What must hold: (docs/rationale/checks.md#structural-invariants)."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ParamWiring(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of a root module."""

    name: str
    numel: int
    trainable: bool
    held: int
    """How many optimizer groups hold it, over all live optimizers."""
    has_grad: bool
    """A gradient tensor is there when the step closes."""
    drawn: bool = False
    """Held by nobody, and some weight of these did not change over steps and has the values torch draws for a new
    layer."""


class OptimizerWiring(msgspec.Struct, frozen=True, kw_only=True):
    """One live optimizer."""

    kind: str
    frame: Frame | None
    """Where the user built it."""
    held: int
    """Parameters it holds."""
    strangers: int
    """Parameters it holds that belong to no module the loop has called and have no gradient (master copies have
    one)."""
    stranger_shapes: tuple[tuple[int, ...], ...] = ()
    """Shapes of the first of them."""


class Wiring(Fact, frozen=True, kw_only=True):
    """All parameters of all root modules called so far, and all live optimizers."""

    ABOUT = "an optimizer"
    KEEP = 4

    params: tuple[ParamWiring, ...]
    optimizers: tuple[OptimizerWiring, ...]
    follower: bool = False
    """A copy of trained layers that no optimizer holds runs in each step and its weights change: a target network, a
    slow encoder."""
