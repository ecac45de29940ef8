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
    model: str = ""
    """Where the loop calls several models: the name under which the program holds this one, `netG`."""
    drawn: bool = False
    """Held by nobody, and some weight of these did not change over steps and has the values torch draws for a new
    layer."""
    copied: bool = False
    """Held by nobody, and some weight of these lies near one that is trained: a target network."""
    table: bool = False
    """A module of the program's own holds it, no layer of torch: tables that are computed once live there."""


def full_name(param: ParamWiring) -> str:
    """Name a parameter, with its model where there are several: `netG.main.0.weight`."""
    return f"{param.model}.{param.name}" if param.model else param.name


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
    shared: int = 0
    """Parameters of it that another optimizer holds too."""
    unheld_gradients: bool = False
    """Its step has just closed, and a backward since the update before wrote gradients that no optimizer holds."""
    models: tuple[str, ...] = ()
    """Names of the models whose parameters it holds, where the loop calls several."""
    groups: Frame | None = None
    """The line that makes the list of parameters which its constructor is given by name."""
    idle: bool = False
    """Its step has just closed, and all that it holds is frozen and has no gradient."""

    @property
    def doubled(self) -> bool:
        """True where another optimizer holds all that this one holds, so that it has used what this one finds."""
        return 0 < self.held == self.shared


class Wiring(Fact, frozen=True, kw_only=True):
    """All parameters of all root modules called so far, and all live optimizers."""

    ABOUT = "an optimizer"
    KEEP = 4

    params: tuple[ParamWiring, ...]
    optimizers: tuple[OptimizerWiring, ...]
    replaced: Frame | None = None
    """The line that put in the layer which receives gradients and is held by nobody, where an optimizer holds
    strangers."""
    second: Frame | None = None
    """The line that makes the model a second time, where an optimizer holds the parameters of the first."""
    follower: bool = False
    """A copy of trained layers that no optimizer holds runs in each step and its weights change: a target network, a
    slow encoder."""
    frozen_again: Frame | None = None
    """The later of two lines of a loop that freeze the same, where the program unfreezes nothing."""
    to_come: bool = False
    """Parameters that receive gradients are held by nobody, and the source builds another optimizer later: told again
    at the end, if none has held them."""

    def doubles(self, frame: Frame | None) -> bool:
        """Whether the optimizer built at a line holds nothing of its own; missing-params tells what it should hold."""
        return any(one.doubled and one.frame == frame for one in self.optimizers)
