"""Which module or loss was given a shape that it cannot take?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash, ModuleSeen, TensorSeen
from debugtracer.trace.facts.loss_call import LOSSES
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

REFUSALS = (
    "shapes cannot be multiplied",
    "must match the size of tensor",
    "must match the existing size",
    "Given groups=",
    "Given normalized_shape=",
    "must be equal to input_size",
    "running_mean should contain",
    "is invalid for input of size",
    "Sizes of tensors must match",
    "Kernel size can't be greater",
    "size mismatch, got",
    "Expected size for first two dimensions",
    "Expected input batch_size",
    "Expected target size",
    "must be the same as input size",
    "Using a target size",
    "was expecting embedding dimension",
    "Expected 2D",
    "Expected 3D",
    "Expected 4D",
)
WIDTHS = (
    ("in_features", -1),
    ("in_channels", 1),
    ("input_size", -1),
    ("num_features", 1),
    ("normalized_shape[0]", -1),
    ("embed_dim", -1),
)
SHOWN = 6  # tensors named in a message (ours)


class ShapeMismatch(Check, frozen=True):
    """A module, an operator or a loss was given shapes that do not fit.

    What it catches
        A head built for other features, channels last where channels first are expected, a flattened size that depends
        on the image size, targets with one dimension more or less than the loss wants.
    Why it matters
        torch names two shapes; which module they met in, what it was built for and what it got takes a debugger.
    How it decides
        The exception is one of torch's shape errors; module, its settings and the tensors are read from the call that
        raised.
    What to do
        Build the module for what it gets, or bring the tensor to the shape it expects.
    Example
        step 0, rank 0: head (Linear, in_features 512) was given input (32, 2048); expected (..., 512). Build it with
        in_features=2048, or change what comes before it.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "shape_mismatch"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "build the module for the shape it is given",
        "or bring the tensor to the expected shape (flatten, transpose, unsqueeze) before the call",
    )
    proved_by: ClassVar[str] = "model/wider_images"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such a shape."""
        for crash in window.new(Crash):
            # data/window-cut-short tells a slice that came out too short, data/last-batch-short a batch
            told = crash.cut is not None or crash.short is not None
            if crash.fetching or told or not any(text in crash.message for text in REFUSALS):
                continue
            loss = next((c for c in crash.torch_calls if c in LOSSES - {"ctc_loss"}), None)
            module = crash.modules[0] if crash.modules else None
            wide = width(module, crash.tensors) if module is not None and not loss else None
            if module is not None and wide is not None:
                yield self.at_module(window, crash, module, wide)
            else:
                yield self.elsewhere(window, crash, loss)

    def at_module(
        self, window: Window, crash: Crash, module: ModuleSeen, wide: tuple[str, int, int, TensorSeen]
    ) -> Finding:
        """A module that knows what it was built for."""
        setting, built, got, tensor = wide
        called = crash.frames[0] if crash.frames else None
        line = None if misplaced(tensor.shape, built) else module.built
        place = (
            Place(module=module.path, frame=called, symptom_frame=crash.call)
            if line is None
            else Place(module=module.path, frame=line, symptom_frame=called)
        )
        return self.finding(
            window,
            "error",
            f"{module.path or '(root)'} ({module.kind}, {setting} {built}){spot(line)} was given {tensor.name} "
            f"{tensor.shape}; expected {built} where it has {got}. "
            f"Build it with {setting}={got}, or change what comes before it.",
            ref=crash.ref,
            place=place,
            built=built,
            got=got,
        )

    def elsewhere(self, window: Window, crash: Crash, loss: str | None) -> Finding:
        """A loss or an operator of the user's own: its tensors by name."""
        named = ", ".join(f"{t.name} {t.shape}" for t in crash.tensors[:SHOWN])
        where = (
            f"{loss}" if loss else (crash.frames[0].code if crash.frames and crash.frames[0].code else "an operator")
        )
        said = crash.message.splitlines()[0] if crash.message else crash.error
        return self.finding(
            window,
            "error",
            f"`{where}` met shapes that do not fit ({said.rstrip('.')}){f'; there are {named}' if named else ''}; "
            "expected matching shapes. "
            "Bring them to one shape before the call.",
            ref=crash.ref,
            place=crash.place(),
            kind="loss_misuse" if loss else None,
            refused=1.0,
        )


def misplaced(shape: tuple[int, ...], built: int) -> bool:
    """Whether a tensor has what a layer was built for, in another dimension or in several that were not flattened: then
    it is the call that is wrong, not the layer."""
    ends = (math.prod(shape[at:]) for at in range(len(shape) - 1))
    return built in shape or built in ends or built * math.prod(shape[:1]) == math.prod(shape)


def width(module: ModuleSeen, tensors: tuple[TensorSeen, ...]) -> tuple[str, int, int, TensorSeen] | None:
    """The setting of the module that its input does not meet: name, what it was built for, what came, the tensor."""
    for setting, dim in WIDTHS:
        built = module.sizes.get(setting)
        for tensor in tensors if built is not None else ():
            if tensor.name not in ("input", "x", "query") or len(tensor.shape) <= (dim if dim > 0 else 0):
                continue
            got = tensor.shape[dim]
            if built is not None and got != built:
                return setting, built, got, tensor
    return None
