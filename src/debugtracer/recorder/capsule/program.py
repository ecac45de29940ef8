"""Records a traced step as an aten program: an observer of the op tracer that writes down every op with its inputs."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from debugtracer.recorder.capsule.encode import Opaque, encode
from debugtracer.recorder.capsule.generators import Generators, drawn_from
from debugtracer.recorder.capsule.recorded import OpRow, Place, Recorded, Ref, TargetRow
from debugtracer.recorder.capsule.storages import Storages
from debugtracer.trace.birth import Frame
from debugtracer.trace.op import OpMeta

SAMPLED = 4096  # values of a target kept for the relative difference; the hash covers all of them
COLLECTIVES = ("c10d", "_c10d_functional", "c10d_functional")
NOT_RECORDED = ("profiler",)  # their handle is a ScriptObject, their effect nil
OWN_NAMESPACES = ("aten", "prims")  # registered by torch itself: any machine with torch can execute them
REFUSED_OPS = ("aten::from_file", "aten::record_stream")


class Program:
    """The recorder. Feed it as an observer; a step it cannot hold sets `refused` (one phrase) and is no longer
    recorded."""

    def __init__(self, max_bytes: int = 2 * 1024**3) -> None:
        self.max_bytes = max_bytes
        self.recorded = Recorded()
        self.storages = Storages(max_bytes)
        self.generators = Generators()
        self.given: list[torch.Tensor] = []
        self.samples: list[torch.Tensor] = []
        self.refused: str | None = None
        self.numbers: dict[Any, int] = {}
        self.pending: OpRow | None = None

    def name(self, tensor: torch.Tensor, label: str) -> None:
        """Label an input before or after the step: `batch[0]`, `parameter head.weight`, `buffer bn.running_var`."""
        try:
            self.recorded.labels.append((label, self.window(tensor)))
        except Opaque:
            pass  # only matters if an op uses it, and then the op is named

    def target(self, name: str, tensor: torch.Tensor) -> None:
        """Keep this tensor's present value as something the replay must meet again. Host sync for CUDA tensors."""
        try:
            number = self.ref(tensor)
        except Opaque as error:
            self.refuse(f"the target {name} is {error}")
            return
        alike = sum(name == target.name.partition(" #")[0] for target in self.recorded.targets)
        name = f"{name} #{alike + 1}" if alike else name  # a model with several outputs
        with _disable_current_modes():  # called inside the trace: our own ops are none of the step
            self.samples.append(sample(tensor))
            self.recorded.targets.append(TargetRow(name, number, len(self.recorded.ops), digest(tensor)))

    def before(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Encode the arguments and copy inputs before the op can write to them."""
        self.pending = None
        if self.refused or getattr(func, "namespace", "") in NOT_RECORDED:
            return
        try:
            self.pending = self.begin(func, args, kwargs)
        except Opaque as error:
            self.refuse(f"the operator {func} is opaque ({error})")

    def after(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], out: object, meta: OpMeta) -> None:
        """Note the results and the place."""
        row, self.pending = self.pending, None
        if row is None or self.refused:
            return
        try:
            row.outs = [self.made(tensor) for tensor in flat(out)]
            if func.namespace in COLLECTIVES:
                row.given = [self.give(t) for t in waited(args, kwargs, out)]
        except Opaque as error:
            self.refuse(f"the operator {func} is opaque ({error})")
            return
        if random_op(func):
            self.generators.after(drawn_from(args, kwargs))
        row.place, row.index = self.place(meta), meta.index
        self.recorded.ops.append(row)

    def begin(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OpRow:
        """The row of an op as far as it is known before the op runs. Raises Opaque."""
        if not isinstance(func, OpOverload):
            raise Opaque("a higher-order operator")
        op = self.intern(f"{func._schema.name}.{func._overloadname}", self.recorded.names)
        if func.namespace in COLLECTIVES:
            return OpRow(op, [], {}, [])
        if func.namespace not in OWN_NAMESPACES or func._schema.name in REFUSED_OPS:
            raise Opaque("not one of torch's own")
        row = OpRow(
            op,
            encode(args, self),
            {name: encode(value, self) for name, value in kwargs.items()},
            [],
            grad=torch.is_grad_enabled(),
        )
        if random_op(func):
            row.states = self.generators.before(drawn_from(args, kwargs))
        return row

    def ref(self, tensor: torch.Tensor) -> int:
        """The number of a tensor that an op reads; the bytes of an input are kept."""
        number = self.window(tensor)
        self.storages.read(tensor, self.recorded.refs[number])
        return number

    def generator(self, generator: torch.Generator) -> int:
        """Return the number of a generator."""
        return self.generators.number(generator)

    def made(self, tensor: torch.Tensor | None) -> int | None:
        """The number of a tensor that an op returned."""
        if tensor is None:
            return None
        number = self.window(tensor)
        self.storages.wrote(self.recorded.refs[number])
        return number

    def give(self, tensor: torch.Tensor) -> tuple[int, int]:
        """A result of a collective, copied: on replay it is an input."""
        self.storages.copied += tensor.numel() * tensor.element_size()
        if self.storages.copied <= self.max_bytes:
            self.given.append(tensor.detach().to("cpu", copy=True).contiguous())
        number = self.window(tensor)
        self.storages.wrote(self.recorded.refs[number])
        return number, len(self.given) - 1

    def window(self, tensor: torch.Tensor) -> int:
        """The number of a window on memory."""
        return self.intern(self.storages.ref(tensor), self.recorded.refs)

    def place(self, meta: OpMeta) -> int:
        """The number of the place of an op."""
        frames = tuple(self.intern(frame, self.recorded.frames) for frame in meta.frames)
        library = self.intern(meta.library, self.recorded.frames) if meta.library is not None else None
        return self.intern(
            Place(meta.direction, meta.forward_op, meta.node, meta.module, frames, meta.entry, library),
            self.recorded.places,
        )

    def intern(self, value: Ref | Place | Frame | str, among: list[Any]) -> int:
        """The index of an equal value in a list, appended at first sight."""
        key = (type(value), value)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(among)
            among.append(value)
        return number

    def refuse(self, reason: str) -> None:
        """Stop recording and free what was kept; the traced step itself goes on."""
        self.refused = self.refused or reason
        self.storages, self.given = Storages(self.max_bytes), []

    def finish(self) -> Recorded:
        """The program with its storages and generators; call at the end of the step."""
        if self.storages.copied > self.max_bytes:
            self.refuse(f"too large: its inputs are {self.storages.copied:,} bytes, the budget is {self.max_bytes:,}")
        self.recorded.storages = [kept.row for kept in self.storages.kept]
        self.recorded.generators = self.generators.rows
        return self.recorded

    def blobs(self) -> dict[str, torch.Tensor]:
        """What goes beside the program, CPU tensors by name: `storage/N`, `state/N`, `given/N`, `target/N`."""
        blobs = {f"storage/{n}": kept.data for n, kept in enumerate(self.storages.kept) if kept.data is not None}
        for kind, tensors in (("state", self.generators.states), ("given", self.given), ("target", self.samples)):
            blobs.update({f"{kind}/{n}": tensor for n, tensor in enumerate(tensors)})
        return blobs


def random_op(func: OpOverload) -> bool:
    """Whether an op draws random numbers."""
    return torch.Tag.nondeterministic_seeded in func.tags


def flat(out: object) -> list[torch.Tensor | None]:
    """The tensors of a result, in order; None where an op returned an undefined one."""
    if isinstance(out, torch.Tensor):
        return [out]
    if isinstance(out, (list, tuple)):
        return [tensor for item in out for tensor in flat(item)]
    return [None]


def waited(args: tuple[Any, ...], kwargs: dict[str, Any], out: object) -> list[torch.Tensor]:
    """The tensors a collective read or wrote, after it has ended."""
    for item in out if isinstance(out, (list, tuple)) else [out]:
        if isinstance(item, torch.ScriptObject):
            torch.distributed.Work.unbox(item).wait()
    return [tensor for tensor in flat([args, tuple(kwargs.values()), out]) if tensor is not None]


def digest(tensor: torch.Tensor) -> str:
    """Hash the bytes of a tensor in row-major order with SHA-256."""
    tensor = torch.zeros_like(tensor) if tensor._is_zerotensor() else tensor.detach()
    data = tensor.to("cpu").contiguous().resolve_conj().resolve_neg().reshape(-1)
    return hashlib.sha256(data.view(torch.uint8).numpy().data).hexdigest()


def sample(tensor: torch.Tensor) -> torch.Tensor:
    """Take at most 4096 values of a tensor, evenly in row-major order, to the CPU."""
    values = (torch.zeros_like(tensor) if tensor._is_zerotensor() else tensor.detach()).reshape(-1)
    return (
        values[:: max(1, -(-values.numel() // SAMPLED))].to("cpu", copy=True).resolve_conj().resolve_neg().contiguous()
    )
