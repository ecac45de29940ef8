"""Follows one value for each row of a batch: is it lined up with the rows, or with a last dimension of the same
size?"""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor
from torch.optim import Optimizer
from torch.utils.data import default_collate

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.stretched_factors import StretchedFactors

DRAWS = frozenset({"rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "multinomial", "bernoulli"})
LIKE = frozenset({"randn_like", "rand_like"})
PICKS = frozenset({"__getitem__", "gather", "index_select", "take"})
COLUMNS = frozenset({"__getitem__", "unsqueeze", "view", "reshape"})
TWO = frozenset(
    {
        "mul", "__mul__", "__rmul__", "multiply", "add", "__add__", "__radd__", "sub", "__sub__", "__rsub__", "rsub",
        "div", "__truediv__", "__rtruediv__", "true_divide", "divide",
    }
)  # fmt: skip
ONE = frozenset(
    {
        "sqrt", "rsqrt", "square", "pow", "__pow__", "__rpow__", "exp", "log", "log1p", "expm1", "cos", "sin", "tan",
        "tanh", "sigmoid", "neg", "__neg__", "abs", "reciprocal", "clamp", "clamp_min", "clamp_max", "to", "float",
        "double", "half", "long", "type_as", "cpu", "cuda", "clone", "detach", "contiguous",
    }
)  # fmt: skip
KEPT = ONE | {"flatten", "view", "reshape"}
"""What leaves rows rows, where the first size stays."""
MOST = 128  # tensors followed in a step (ours)


class RowValues(NamedTuple):
    """A tensor with one value for each row, and what they come from."""

    tensor: WeakRef[Tensor]
    root: int
    """A number for the draw or the tensor of the batch."""


class RowSource(NamedTuple):
    """Where such values come from."""

    name: str
    raw: RawFrames


class LinedUp(NamedTuple):
    """A call that lines such values up with the last dimension of rows."""

    root: int
    function: str
    shape: tuple[int, ...]
    raw: RawFrames


class StretchedFactorsObserver(Observer):
    """Compares shapes in inspected steps; reads no value and keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.values: dict[int, RowValues] = {}
        self.rows: dict[int, WeakRef[Tensor]] = {}
        """Tensors whose first dimension is the batch."""
        self.sources: list[RowSource] = []
        self.columns: dict[int, RowSource] = {}
        """By the number of the source: what takes its values as a column."""
        self.lined: list[LinedUp] = []
        self.right: set[RawFrames] = set()
        """Lines that line up values with a last dimension of another size than the batch."""

    def reset(self) -> None:
        self.forget()
        self.right.clear()

    def missed(self) -> None:
        """Forget what was followed in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the step in flight."""
        self.values.clear()
        self.rows.clear()
        self.sources.clear()
        self.columns.clear()
        self.lined.clear()

    @of_functions(DRAWS, TWO, PICKS, COLUMNS, KEPT, ("embedding", "outer", "ger"))
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow values of rows, and rows; note where they meet."""
        if any(isinstance(v, Tensor) and v.is_nested for v in (output, *args)) or not isinstance(output, Tensor):
            return  # a nested tensor has no sizes
        name = getattr(function, "__name__", "")
        if name in DRAWS:
            self.drawn(name, args, output)
        elif name in TWO:
            self.met(name, args, output)
        elif name in PICKS or name in COLUMNS or name in KEPT:
            self.changed(name, args, kwargs, output)
        elif name in ("embedding", "outer", "ger") and args and self.values:
            root = self.root_of(args[0])
            if root is not None:
                self.columns.setdefault(root, RowSource(name, raw_frames(1)))

    def drawn(self, name: str, args: tuple[Any, ...], output: Tensor) -> None:
        """Note a draw of one value a row, and one of the size of rows."""
        if output.dim() == 1 and len(output) > 1 and len(self.sources) < MOST:
            self.follow(output, len(self.sources))
            self.sources.append(RowSource(name, raw_frames(2)))
        elif name in LIKE and args and self.is_rows(args[0]):
            self.keep(output)

    def changed(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> None:
        """Follow what is computed of one tensor, or picked by the values of rows."""
        given = args[0] if args else None
        if not isinstance(given, Tensor):
            return
        root = self.root_of(given)
        if root is not None:
            if name in ONE and output.shape == given.shape:
                self.follow(output, root)
            elif name in COLUMNS and output.dim() > 1 and output.shape[0] == output.numel() == len(given):
                self.columns.setdefault(root, RowSource(name, raw_frames(2)))
            return
        if name in PICKS and given.dim() == 1 and output.dim() == 1:
            index = next((v for v in (*args[1:], *kwargs.values()) if isinstance(v, Tensor)), None)
            picked = self.root_of(index) if index is not None else None
            if picked is not None and index is not None and output.shape == index.shape:
                self.follow(output, picked)
            return
        taken = name == "__getitem__" and is_numbers(args[1]) and output.shape[1:] == given.shape[1:]
        same = name in KEPT and output.shape[:1] == given.shape[:1] and self.is_rows(given)
        if output.dim() > 1 and (taken or same):
            self.keep(output)

    def met(self, name: str, args: tuple[Any, ...], output: Tensor) -> None:
        """Follow the result of two, and note values that broadcasting lines up with the last dimension of rows."""
        a, b = (*args, None, None)[:2]
        pair = [v for v in (a, b) if isinstance(v, Tensor) and v.dim() > 0]
        if len(pair) == 2 and 1 in (pair[0].dim(), pair[1].dim()) and pair[0].dim() != pair[1].dim():
            flat, whole = sorted(pair, key=lambda one: one.dim())
            root = self.root_of(flat)
            if root is not None and len(flat) == whole.shape[-1] and self.is_rows(whole):
                self.line_up(name, root, whole)
        roots = [root for v in pair if v.shape == output.shape and (root := self.root_of(v)) is not None]
        if roots:
            self.follow(output, roots[0])
        elif output.dim() > 1 and any(v.shape == output.shape and self.is_rows(v) for v in pair):
            self.keep(output)

    def line_up(self, name: str, root: int, whole: Tensor) -> None:
        """Note one such call; a line where the sizes differ lines up what it means to."""
        raw = raw_frames(3)
        if whole.shape[-1] != whole.shape[0]:
            self.right.add(raw)
        elif raw not in self.right and len(self.lined) < MOST:
            self.lined.append(LinedUp(root, name.strip("_").removeprefix("r"), tuple(whole.shape), raw))

    def root_of(self, value: Any) -> int | None:
        """The source of a tensor with one value a row; a flat tensor of a batch is one."""
        if not isinstance(value, Tensor) or value.dim() != 1 or value.requires_grad:
            return None
        known = self.values.get(id(value))
        if known is not None and known.tensor() is value:
            return known.root
        path = self.path_of(value) if len(value) > 1 and len(self.sources) < MOST else None
        if path is None:
            return None
        self.sources.append(RowSource(path, ()))
        self.follow(value, len(self.sources) - 1)
        return len(self.sources) - 1

    def is_rows(self, value: Any) -> bool:
        """Whether the first dimension of a tensor is the batch."""
        if not isinstance(value, Tensor) or value.dim() < 2 or value.requires_grad:
            return False
        known = self.rows.get(id(value))
        return (known is not None and known() is value) or self.path_of(value) is not None

    def path_of(self, value: Tensor) -> str | None:
        """The path of a tensor that a loader has made of one part a sample; None for others. A flat or square one of a
        collate function of the program's may be anything."""
        found = self.run.batches.find(value)
        if found is None or found[0].rows != value.shape[0]:
            return None
        batch, path = found
        leaf = next((leaf for name, leaf in batch.tensors() if name == path), None)
        if leaf is None or leaf.shape[:1] != value.shape[:1] or (leaf is not value and value.dim() < 2):
            return None
        info = batch.loader  # a loader that a `for` alone holds is gone: its iterator is not
        iterator: Any = info.iterator() if info.iterator is not None else None
        collates = getattr(iterator, "_collate_fn", None), getattr(info.loader(), "collate_fn", None)
        stacked = default_collate in collates
        return path if stacked or min(leaf.dim(), value.dim()) > 2 else None

    def follow(self, value: Tensor, root: int) -> None:
        """Remember a tensor as one value a row."""
        if len(self.values) < MOST:
            self.values[id(value)] = RowValues(WeakRef(value), root)

    def keep(self, value: Tensor) -> None:
        """Remember a tensor as rows."""
        if len(self.rows) < MOST and not value.requires_grad:
            self.rows[id(value)] = WeakRef(value)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit values that are one for each row elsewhere in the step."""
        for raw in dict.fromkeys(one.raw for one in self.lined):
            one = next(lined for lined in self.lined if lined.raw == raw)
            column = self.columns.get(one.root)
            if column is None or raw in self.right:
                continue
            source = self.sources[one.root]
            self.run.emit(
                StretchedFactors(
                    ref=self.run.ref(), function=one.function, shape=one.shape, source=source.name,
                    frame=first(raw), source_frame=first(source.raw), column=column.name,
                    column_frame=first(column.raw),
                )
            )  # fmt: skip
        self.forget()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.forget()


def is_numbers(index: Any) -> bool:
    """Whether an index takes rows by their numbers."""
    return isinstance(index, Tensor) and index.dim() == 1 and len(index) > 1 and not index.dtype.is_floating_point
