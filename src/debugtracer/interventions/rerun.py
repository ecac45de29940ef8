"""The step about to be executed again, as an intervention sees it and may change it. Everything it does not change
stays bit for bit."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.recorder.state.roots import unwrapped
from debugtracer.recorder.tape.entry import Entry, Leaf
from debugtracer.trace.birth import Birth, Frame
from debugtracer.trace.incident import Symptom

Around = Callable[[Entry], contextlib.AbstractContextManager[Any]]


@dataclass
class Rerun:
    """What is known of the step, and the changes asked for. An intervention writes only below the line `changes`."""

    symptom: Symptom
    entries: list[Entry]
    """The calls of the step, in order."""
    roots: list[nn.Module]
    """Root modules that the step calls."""
    optimizers: list[Optimizer]
    """Those that will update after this step; empty when the update is not replayed."""
    birth: Birth | None = None
    rows: int | None = None
    """Rows of the batch."""
    guilty: tuple[int, ...] | None = None
    """Rows known to be guilty."""
    batch: list[Leaf] = field(default_factory=list)
    """Inputs whose first dimension is the rows of the batch."""
    healthy: dict[int, Tensor] = field(default_factory=dict)
    """id of a leaf -> what stood in its place in the last healthy step."""
    frames: Callable[[Any], tuple[Frame, ...]] = lambda raw: ()
    """Raw user frames of an entry as Frames."""
    scaler: Any = None
    """The GradScaler of the step, if it has one."""
    compiled: bool = False
    """The fault shows in compiled code alone, which runs again."""
    older: Callable[[int], bool] = lambda steps: False
    """Put weights, moments and buffers back by that many steps or the next snapshot before; False when none is kept."""
    history: int = 0
    """Steps back that `older` can go."""
    replays_past: bool = False
    """The steps before the failing one run too, updates included."""
    broken: str = ""
    """Class of the invariant that is known to be broken."""
    grad_l2_usual: float | None = None
    """Median gradient norm of the last healthy steps, L2."""
    refetch: Callable[[], dict[int, Tensor]] = dict
    """The samples of the batch fetched again without their random transforms: id of a leaf -> its new value. Raises
    ReplayRefused where that cannot be done."""

    # changes
    inputs: dict[int, Tensor] = field(default_factory=dict)
    """id of a leaf -> the tensor to use in its place."""
    cast: Callable[[Tensor], Tensor] | None = None
    """Applied to every other input: dtype and device."""
    around: list[Around] = field(default_factory=list)
    """Contexts around each call: function modes that replace a torch function."""
    throughout: list[contextlib.AbstractContextManager[Any]] = field(default_factory=list)
    """Contexts around the whole run: modules recast, a forward exchanged; they put back what they changed."""
    autocast: bool = True
    """False: the calls run with autocast off."""
    seed: int | None = None
    """Random calls draw from this seed instead of the recorded state."""
    on_gradients: list[Callable[[list[Tensor]], None]] = field(default_factory=list)
    """Called with the gradients (in place) after the last backward, before any update."""
    on_update: list[Callable[[Optimizer], None]] = field(default_factory=list)
    """Called with each optimizer just before it steps: settings and state may be changed."""
    step_by: Callable[[Optimizer], None] | None = None
    """Steps in place of the optimizer."""
    doubts: list[Callable[[], str]] = field(default_factory=list)
    """Asked when the run is over: why the change did not take place, empty when it did."""
    described: Callable[[], str] = lambda: ""
    """What was changed, where only the run itself could know; empty: what `apply` has said."""
    before_step: list[Callable[[], None]] = field(default_factory=list)
    """Called before the first call of each step."""
    overwritten: str = ""
    """The call of the step that wrote into an input of `inputs`, set by the run: what a batch in its place was meant to
    show, it cannot show then."""
    left_out: set[str] = field(default_factory=set)
    """Kinds of calls of the loop that do not run."""
    backwards_in_time: bool = False
    """The steps since the snapshot run in the reverse order."""
    steps_back: int = 0
    """Start from the state of that many steps ago."""

    def line(self, entry: Entry) -> str:
        """Format the user's line of a call, `train.py:88`; empty where it is not known."""
        frames = self.frames(entry.frames)
        return f"{frames[0].file.rpartition('/')[2]}:{frames[0].line}" if frames else ""

    def leaves(self) -> Iterator[Leaf]:
        """Every input of the step, each once."""
        seen: set[int] = set()
        for reference in (r for e in self.entries for r in e.references()):
            if isinstance(reference, Leaf) and id(reference) not in seen:
                seen.add(id(reference))
                yield reference

    def value(self, leaf: Leaf) -> Tensor:
        """The bytes the step read for an input."""
        return leaf.saved if leaf.saved is not None else leaf.tensor.detach()

    def module(self) -> nn.Module | None:
        """The module in which the fault was born; None outside of modules. Its path may begin above the root that the
        loop called, or below it."""
        path = self.birth.module if self.birth is not None else None
        if path is None:
            return None
        parts = path.split(".") if path else []
        for start in range(len(parts) or 1):
            found = [m for m in (below(root, parts[start:]) for root in self.roots) if m is not None]
            if found:
                return found[0]
        inside = {id(m): m for root in self.roots for name, m in root.named_modules() if name.endswith(f".{path}")}
        return next(iter(inside.values())) if len(inside) == 1 else None

    def module_name(self) -> str:
        """Format the module of birth: `encoder.norm (LayerNorm)`."""
        path, module = self.birth.module if self.birth is not None else "", self.module()
        return f"{path} ({type(module).__name__})" if path else type(module).__name__

    def place(self) -> str:
        """Format the guilty line, `model.py:88`; "the step" when it is not known."""
        return guilty_line(self.birth)


def guilty_line(birth: Birth | None) -> str:
    """Format the guilty line, `model.py:88`; "the step" when it is not known."""
    frame = birth.innermost if birth else None
    return f"{frame.file.rpartition('/')[2]}:{frame.line}" if frame else "the step"


def below(root: nn.Module, parts: list[str]) -> nn.Module | None:
    """The module at a path below a root, wrappers looked through; None when there is none."""
    module: nn.Module | None = unwrapped(root)
    for part in parts:
        module = module._modules.get(part) if module is not None else None
    return module
