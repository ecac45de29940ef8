"""Why the program died: its exception, the call it died in, and the tensors, modules and batch that were there."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Layer
from debugtracer.trace.place import Place

UNFINISHED = "Expected to have finished reduction in the prior iteration"
"""What DistributedDataParallel says in the iteration after one in which a parameter got no gradient."""


class TensorSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One tensor by name; low and high only for integers on the CPU."""

    name: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    device: str = "cpu"
    low: int | None = None
    high: int | None = None
    needs_grad: bool = False
    nonfinite: int = 0
    """Values that are NaN or Inf, of a floating tensor on the CPU."""


class KnownWords(msgspec.Struct, frozen=True, kw_only=True):
    """What the text of the exception is evidence of, by the same table that reads logs (`debug-tracer explain`)."""

    kind: str
    """The class; empty where the words say that something went wrong and not why."""
    certainty: float
    """0..0.9: text alone proves nothing."""
    because: str
    layer: Layer
    remedies: tuple[str, ...] = ()
    op: str | None = None
    others: tuple[str, ...] = ()
    """Further classes that the same words can come from."""


class IntegerRows(msgspec.Struct, frozen=True, kw_only=True):
    """An integer tensor of the failing call, row by row of the batch it came in."""

    name: str
    values: tuple[tuple[int, ...], ...]
    """Smallest and largest value of each row, then up to four values that stick out furthest at either end."""
    indices: tuple[int, ...] | None = None
    """Dataset index of each row."""
    at: tuple[int, ...] = ()
    """Which row of the batch each is, where the call was given some of them or in another order; below 0 where that is
    not known."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote these values, the one that made them first."""

    def in_batch(self, rows: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return these rows as they are counted in the batch; None for none, and where one is not known."""
        found = tuple(self.at[row] for row in rows) if self.at else rows
        return found if found and min(found) >= 0 else None


class IndexUsed(msgspec.Struct, frozen=True, kw_only=True):
    """The index of a line that used one outside a dimension."""

    text: str
    """As it is written."""
    made: tuple[Frame, ...]
    """The lines that wrote its values, the one that made them first."""


class ModuleSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One module whose forward was running."""

    path: str
    kind: str
    sizes: dict[str, int] = {}
    """Its whole-number settings: in_features, num_embeddings, ..."""
    dtype: str | None = None
    """Of its own parameters, when they agree."""
    device: str | None = None
    built: Frame | None = None
    """The line that builds it in the class that holds it; of layers with a size alone."""
    counted: Frame | None = None
    """The line that counts the different ids for the size of a table of rows; None where its size comes from
    elsewhere."""
    short: tuple[Frame, Frame] | None = None
    """Where the length of a table of ids is taken, and where unknown values get that very length as their id."""


class CrashBatch(msgspec.Struct, frozen=True, kw_only=True):
    """The batch fetched last, or the one whose fetch failed."""

    leaves: tuple[TensorSeen, ...] = ()
    rows: int | None = None
    indices: tuple[int, ...] | None = None
    dataset_len: int | None = None
    batch_size: int | None = None
    num_workers: int = 0
    drop_last: bool = False
    frame: Frame | None = None
    """Where the user built the loader."""


class SampleSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One sample of a batch that could not be stacked."""

    index: int
    shapes: tuple[tuple[str, str], ...]
    """Path of each part and its shape or type in words."""


class FormSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The sample that could not be made, fetched again beside others, and where a value of it first had another form
    than for all of them."""

    index: int
    frame: Frame | None = None
    """The line that made that value; None where all values on the way have the usual form."""
    name: str = ""
    """The name it has there; empty for what is handed on without one."""
    seen: str = ""
    """Its form in words: `mode RGBA`."""
    usual: str = ""
    """That of the others."""
    beside: int = 0
    """How many samples it was compared with."""


def differing_part(samples: tuple[SampleSeen, ...]) -> tuple[str, str, int, str, tuple[int, ...]] | None:
    """The part that differs, its commonest shape and count, another shape, and the indices of the samples that are not
    like the most."""
    parts = dict.fromkeys(path for sample in samples for path, _ in sample.shapes)
    for part in parts:
        shapes = [(sample.index, dict(sample.shapes).get(part, "missing")) for sample in samples]
        usual, count = Counter(shape for _, shape in shapes).most_common(1)[0]
        others = [(index, shape) for index, shape in shapes if shape != usual]
        if others:
            return part, usual, count, others[0][1], tuple(index for index, _ in others)
    return None


def first_difference(form: FormSeen | None) -> str:
    """Where the sample first differed from others, in words."""
    if form is None or form.frame is None:
        return ""
    name = f"`{form.name}` of it" if form.name else "what is handed on of it"
    at = file_line(form.frame)
    return f"; {name} has {form.seen} from {at} on, and {form.usual} in each of {form.beside} other samples"


class CutSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A slice that ends behind the end of what it is cut from."""

    text: str
    """As it is written: `file[start:end]`."""
    low: int
    high: int
    """Where it begins and was to end."""
    size: int
    """The length of what it is cut from."""
    frame: Frame
    """The line of the cut."""
    start: Frame | None = None
    """The line that made where it begins."""
    table: bool = False
    """It is cut from a parameter or buffer of a module, from its first row on."""
    stored: bool = False
    """It is written to: what it should take is longer than the room."""
    room: Frame | None = None
    """The line that gave the length of what is written to."""
    picked: bool = False
    """It is a range of places, `x[range(a, b)]`, which is refused and not cut short."""


class StateMade(msgspec.Struct, frozen=True, kw_only=True):
    """The state that a recurrent layer refused."""

    frame: Frame
    """The line that made it, or keeps it."""
    kept: bool = False
    """It is that of the batch before."""


class ShortBatchSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A batch with fewer rows than those before it, which the program did not expect."""

    rows: int
    usual: int
    frame: Frame | None = None
    """The line that uses the usual length, or takes away a dimension; None where it is not known."""
    squeezed: bool = False
    """It takes away every dimension of length 1, that of a batch of one row too."""
    evaluating: bool = False
    """No module was in training mode: all samples count there, none may be left out."""


class Crash(Fact, frozen=True, kw_only=True):
    """The program's own exception, emitted once."""

    KEEP: ClassVar[int] = 2

    error: str
    message: str
    frames: tuple[Frame, ...] = ()
    """User frames, innermost first."""
    call: Frame | None = None
    """The user's line that called the outermost module, else the innermost user line."""
    torch_calls: tuple[str, ...] = ()
    """Names of torch's Python functions in the traceback, innermost first."""
    modules: tuple[ModuleSeen, ...] = ()
    """Modules whose forward was running, innermost first."""
    tensors: tuple[TensorSeen, ...] = ()
    """Tensors among the locals of the innermost torch function or user line."""
    numbers: dict[str, int] = {}
    """Whole numbers among them (ignore_index, ...)."""
    rows: IntegerRows | None = None
    batch: CrashBatch | None = None
    samples: tuple[SampleSeen, ...] = ()
    optimizers: tuple[tuple[str, Frame | None], ...] = ()
    """Live optimizers and where they were built."""
    names: tuple[str, ...] = ()
    """Trainable parameters of the DistributedDataParallel module in order, when it is what complains."""
    parameters: tuple[TensorSeen, ...] = ()
    """Those of the root modules, at most 64."""
    memory: dict[str, int] = {}
    """Bytes: `allocated`, `reserved`, `peak` of the device."""
    built: Frame | None = None
    """Where the loss module that raised was built, when one did."""
    branches: dict[str, Frame] = {}
    """Under DDP: layers that the model calls under a condition alone, with the line; where a reduction was not
    finished."""
    carried: Frame | None = None
    """The line by which a tensor with a graph goes from one turn of the loop to the next."""
    words: KnownWords | None = None
    """What the text of the exception says, None where no known words are in it."""
    index: IndexUsed | None = None
    """The index that was outside its dimension, where it is known what made it."""
    sample: int | None = None
    """Dataset index of the sample that was being made."""
    form: FormSeen | None = None
    """Where that sample, or the first of its batch that cannot be made, first differs in form from others."""
    cut: CutSeen | None = None
    """The slice that came out as much too short as the two lengths of the exception differ."""
    state: StateMade | None = None
    """The state of a recurrent layer that has another size than the batch."""
    short: ShortBatchSeen | None = None
    """The batch in flight is shorter than all before it, and the program died of that."""
    fetching: bool = False
    """A DataLoader was fetching."""

    def place(self) -> Place:
        """The innermost module and line, and the line where it showed."""
        return Place(
            module=self.modules[0].path if self.modules else None,
            frame=self.frames[0] if self.frames else None,
            symptom_frame=self.call,
        )


class InplaceWrite(msgspec.Struct, frozen=True, kw_only=True):
    """One write in place to a tensor that a graph may need."""

    name: str
    """The function: `add_`, `__setitem__`, `SGD.step`."""
    shape: tuple[int, ...]
    version: int
    """Version counter of the tensor after the write."""
    frame: Frame | None
    param: str | None = None
    base: tuple[int, ...] = ()
    """Shape of the tensor that it is a view of, or that it is itself."""
    forwards: bool = False
    """Of an optimizer: a forward ran after the write, so what backward goes through began before that forward."""
    op: str | None = None
    """The aten op that wrote; like the two below known where the forward was executed again."""
    module: str | None = None
    """Path of the module in whose forward it wrote."""
    rows: tuple[int, ...] = ()
    """Indices in the first dimension of `base` that it changed, where it did not change all."""


class InplaceWrites(Fact, frozen=True, kw_only=True):
    """Writes in place since the last backward that worked, emitted when a backward dies of one."""

    KEEP: ClassVar[int] = 2

    writes: tuple[InplaceWrite, ...]
    again: bool = False
    """Seen when the forward of the step was executed again."""
