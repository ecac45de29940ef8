"""How far backward reaches: which parameters of an optimizer took part in a step and which of them hang on the loss."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """Where the graph ends: a call that takes a tensor with a graph and gives none, or runs under no_grad."""

    function: str
    """detach, __get__ (.data), numpy, item, tensor ..., or no_grad."""
    module: str | None = None
    frame: Frame | None = None
    conditional: bool = False
    """A condition stands around the line: it may hold for some updates alone."""


class Stranger(msgspec.Struct, frozen=True, kw_only=True):
    """A Parameter in the graph that no called module has registered and no optimizer holds; or a plain tensor that is
    an attribute of a module."""

    path: str | None
    """Where it hangs: the attribute of a registered module, and the place in it; None if it was not found."""
    owner: str | None
    """The path of that attribute."""
    members: int
    """Modules in the container it was found in."""
    shape: tuple[int, ...]
    frame: Frame | None = None
    """The line that assigns the attribute, else the line that uses it."""
    plain: bool = False
    """No Parameter: a leaf tensor that asks for a gradient, is an attribute of a registered module and was not changed
    over steps."""


class GraphReach(Fact, frozen=True, kw_only=True):
    """One optimizer step, over all backwards since its last one."""

    ABOUT = "an optimizer"
    KEEP = 16

    optimizer: str
    number: int
    """Which optimizer, in order of their first step."""
    look: int = 0
    """How many steps of it were looked at before."""
    built: Frame | None = None
    reached: int = 0
    """Values of trainable parameters it holds that the losses hang on."""
    lost_numel: int = 0
    """Values of those that took part in a forward, and from which no loss hangs."""
    lost: tuple[str, ...] = ()
    """Their names, at most 32."""
    lasting: int = 0
    """Steps in a row in which the same ones were lost."""
    stood: bool = False
    """The lost ones have the values they had in the first of these steps: nobody else updates them."""
    used: Frame | None = None
    """The line that uses the first of them."""
    made: Frame | None = None
    """The line that assigns its layer, once they were lost in four looks."""
    asleep: bool = False
    """All lost ones lie in modules in evaluation mode: frozen on purpose."""
    spare: bool = False
    """Each lost one is of a numbered block of which other parts have a gradient, as has the same part of the block
    before."""
    idle: tuple[str, ...] = ()
    """Trainable ones it holds that took no part at all, at most 32."""
    idle_count: int = 0
    cut: Cut | None = None
    symptom: Frame | None = None
    strangers: tuple[Stranger, ...] = ()
    fresh: bool = False
    """The unregistered tensors are others than in the last step: made in each forward."""
    drawn: bool = False
    """Some weight among the unregistered did not change over steps and has the values torch draws for a new layer."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.number


class LossWithoutGraph(Fact, frozen=True, kw_only=True):
    """backward() is called on a tensor that hangs on nothing."""

    leaf: bool
    """It was made with requires_grad=True out of a number: backward runs and reaches nothing."""
    cut: Cut | None = None
    frame: Frame | None = None
    frozen: int = 0
    """Parameters of the models called so far, where not one of them asks for a gradient; 0 otherwise."""
    model: str = ""
    """The class of the first of these models."""
    frozen_by: Frame | None = None
    """The only line of the program that freezes parameters; after an update the only one that runs again and again."""
    updates: int = 0
    """Updates before it, where all is frozen: something was trained until then."""
    called_at: Frame | None = None
    """The line of a loop that calls the function of the freezing line again and again."""
    plain: bool = False
    """The optimizers hold nothing but plain tensors that ask for no gradient."""


class SampledLatent(Fact, frozen=True, kw_only=True):
    """A draw without a graph that goes into a loss, in one inspected step."""

    ABOUT = "an optimizer"

    function: str
    """Normal.sample, torch.normal ..."""
    optimizer: str
    """The class of the optimizer that holds the parameters."""
    lost: tuple[str, ...]
    """The parameters that made the distribution and get nothing from the part of the loss that the draw enters, at most
    8."""
    count: int
    """All of them."""
    elsewhere: bool
    """Some of them get a gradient from another part of the loss, as from a divergence."""
    frame: Frame | None = None

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.function, self.frame, self.ref.step
