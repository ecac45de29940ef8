"""Executes a recorded program: the incident again in a fresh process, without the user's code."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import torch
from torch._ops import OpOverload

from debugtracer.errors import CapsuleError
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.recorder.capsule.capsule import Capsule
from debugtracer.recorder.capsule.encode import decode
from debugtracer.recorder.capsule.flags import under
from debugtracer.recorder.capsule.program import digest, flat, sample
from debugtracer.recorder.capsule.recorded import OpRow
from debugtracer.replay.offline.distance import relative_difference
from debugtracer.replay.offline.memory import ReplayMemory
from debugtracer.replay.offline.narrow import run_narrow
from debugtracer.replay.offline.operators import last_uses, resolve
from debugtracer.replay.op_trace.op_tracer import OpListener

FAILURES = (RuntimeError, ValueError, IndexError, TypeError)  # what torch raises when an op cannot run
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass
class OfflineResult:
    """What a replay gave: the targets by name as they were when recorded, and how far each is from the recorded one."""

    targets: dict[str, torch.Tensor] = field(default_factory=dict)
    distance: dict[str, float | None] = field(default_factory=dict)
    """Name -> None where bitwise the same, else the largest relative difference (inf: finite here, not there)."""
    inputs: dict[str, torch.Tensor] = field(default_factory=dict)
    """Labelled inputs, e.g. `batch[0]`, as the step found them."""
    ops: int = 0
    seconds: float = 0.0
    device: str = "cpu"
    dtype: str | None = None
    """The dtype everything floating was mapped to; None: as recorded."""
    as_recorded: set[str] = field(default_factory=set)
    """Operators that have no kernel in that dtype and ran in the recorded one."""

    @property
    def parity(self) -> str:
        """Describe it in one phrase: `bitwise`, or the worst target and its relative difference."""
        apart = {name: value for name, value in self.distance.items() if value is not None}
        if not apart:
            return "bitwise" if self.distance else "nothing to compare"
        worst = max(apart, key=lambda name: apart[name])
        return (
            f"{len(self.distance) - len(apart)} of {len(self.distance)} bitwise, largest relative difference "
            f"{apart[worst]:.2g} ({worst})"
        )


def run_capsule(
    capsule: Capsule,
    *,
    observers: Sequence[OpListener] = (),
    dtype: str | None = None,
    device: str = "cpu",
    changes: OfflineRerun | None = None,
) -> OfflineResult:
    """Execute the program of a capsule. dtype float64|float32|bfloat16|float16 maps every floating tensor; None keeps
    the recorded ones. `changes`: what an intervention asked for; its dtype and device are passed like any other.

    Host syncs where a target is compared. Raises CapsuleError: unknown dtype, device or operator, damaged program, an
    op that fails here."""
    if dtype is not None and dtype not in DTYPES:
        raise CapsuleError(f"--dtype {dtype} is not known; expected {', '.join(DTYPES)}")
    place = usable_device(device)
    try:
        capsule.program.check()
    except ValueError as error:
        raise CapsuleError(f"{capsule.folder} is damaged ({error}); make the incident again") from None
    random_state = torch.get_rng_state()
    start = perf_counter()
    try:
        with under(capsule.head.flags), torch.no_grad():
            result = Execution(capsule, dtype, place, observers, changes).run()
    finally:
        torch.set_rng_state(random_state)
    result.seconds = perf_counter() - start
    return result


def usable_device(device: str) -> torch.device:
    """The device of a replay. Raises CapsuleError when this machine has none such."""
    try:
        torch.empty(1, device=device)
        return torch.device(device)
    except (RuntimeError, AssertionError) as error:
        raise CapsuleError(f"--device {device} cannot be used here ({first_line(error)}); try --device cpu") from None


def first_line(error: BaseException) -> str:
    """The first line of an error, at most 160 characters."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


class Execution:
    """One run of a program."""

    def __init__(
        self,
        capsule: Capsule,
        dtype: str | None,
        device: torch.device,
        observers: Sequence[OpListener],
        changes: OfflineRerun | None = None,
    ) -> None:
        self.capsule, self.program = capsule, capsule.program
        self.changes = changes or OfflineRerun("nan_loss", capsule.program, lambda ref: torch.empty(0))
        self.memory = ReplayMemory(capsule, DTYPES.get(dtype or ""), device)
        self.observers = observers
        self.result = OfflineResult(device=str(device), dtype=dtype)
        self.functions: dict[int, OpOverload] = {}

    def run(self) -> OfflineResult:
        """Every op in order, targets between them."""
        free = last_uses(self.program)
        for ref, tensor in self.changes.replaced.items():
            self.memory.tensor(ref).copy_(tensor)
        self.label_inputs()
        for number, row in enumerate(self.program.ops):
            self.meet_targets(number)
            for look in self.changes.between.get(number, ()):
                look(self.memory.tensor)
            if row.given:
                self.give(row)
            else:
                self.execute(self.changes.other.get(number, row), number)
            for storage in free.get(number, ()):
                self.memory.reset(storage)
            self.result.ops += 1
        self.meet_targets(len(self.program.ops))
        return self.result

    def label_inputs(self) -> None:
        """Give the observers the names of the inputs that the step read, as OpTracer.label does live."""
        for name, ref in self.program.labels:
            if not self.memory.has_bytes(ref):
                continue
            tensor = self.result.inputs[name] = self.memory.tensor(ref)
            for observer in self.observers:
                label = getattr(observer, "label", None)
                if label is not None:
                    label(tensor, name)

    def execute(self, row: OpRow, number: int) -> None:
        """Execute one op: arguments, random state, changes, observers, results."""
        func = self.function(row.op)
        args = tuple(decode(row.args, self.memory))
        kwargs = {
            name: decode(value, self.memory) if name != "pin_memory" else False for name, value in row.kwargs.items()
        }
        for generator, state in row.states:
            self.restore(generator, state)
        for change in self.changes.before.get(number, ()):
            change(args, kwargs)
        for observer in self.observers:
            observer.before(func, args, kwargs)
        out = self.call(func, args, kwargs, row)
        self.bind(row, out)
        for correct in self.changes.after.get(number, ()):
            correct([None if ref is None else self.memory.tensor(ref) for ref in row.outs])
        if self.observers:
            meta = self.program.meta(row)
            for observer in self.observers:
                observer.after(func, args, kwargs, out, meta)

    def call(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], row: OpRow) -> object:
        """The op itself; in a mapped dtype that its kernel does not have, in the recorded one. Raises CapsuleError."""
        if self.memory.working is not None and func is torch.ops.aten.view.dtype:
            raise CapsuleError(
                f"operator {row.index} of the step reads the bits of a tensor as another dtype, which means nothing in "
                f"{self.result.dtype}; leave --dtype out"
            )
        if str(func).replace("_backward", "") in self.result.as_recorded:
            return self.call_narrow(func, row)  # it reads what its forward has left
        try:
            with torch.set_grad_enabled(row.grad):  # no tensor here requires grad: nothing is tracked
                out = func(*args, **kwargs)
            if self.memory.working is None or func._schema.is_mutable or self.shaped(row, out):
                return out  # a workspace whose size depends on the dtype is of no use to the op that reads it
        except FAILURES as error:
            if self.memory.working is None:
                raise CapsuleError(
                    f"operator {row.index} of the step, {func}, cannot run on {self.memory.place}: {first_line(error)}"
                ) from None
        return self.call_narrow(func, row)

    def call_narrow(self, func: OpOverload, row: OpRow) -> object:
        """The op in its recorded dtypes. Raises CapsuleError."""
        self.result.as_recorded.add(str(func))
        try:
            with torch.set_grad_enabled(row.grad):
                return run_narrow(func, row, self.memory)
        except FAILURES as error:
            where = f"{self.memory.place} in {self.result.dtype}"
            raise CapsuleError(
                f"operator {row.index} of the step, {func}, cannot run on {where}: {first_line(error)}"
            ) from None

    def shaped(self, row: OpRow, out: object) -> bool:
        """Whether the results have the shapes that were recorded."""
        pairs = zip(row.outs, flat(out), strict=False)
        return all(
            ref is None or tensor is None or tuple(tensor.shape) == self.program.refs[ref].shape
            for ref, tensor in pairs
        )

    def bind(self, row: OpRow, out: object) -> None:
        """Give the results their storage numbers."""
        tensors = flat(out)
        if len(tensors) != len(row.outs):
            gave = f"operator {row.index} of the step gave {len(tensors)} results, recorded were {len(row.outs)}"
            raise CapsuleError(f"{gave}; replay it with torch {self.capsule.head.torch}")
        for ref, tensor in zip(row.outs, tensors, strict=True):
            if ref is not None and tensor is not None:
                self.memory.result(ref, tensor)

    def give(self, row: OpRow) -> None:
        """Write the recorded results of a collective."""
        for ref, number in row.given:
            data, tensor = self.capsule.blobs.get(f"given/{number}"), self.memory.tensor(ref)
            if data is None or data.shape != tensor.shape:
                raise CapsuleError(f"{self.capsule.folder} is damaged: result {number} of a collective is missing")
            tensor.copy_(data)

    def restore(self, generator: int, state: int) -> None:
        """Put a generator into a recorded state; on another kind of device the numbers differ anyway and a fixed seed
        is used."""
        blob = self.capsule.blobs.get(f"state/{state}", torch.empty(0))
        live = self.memory.generator(generator)
        if self.changes.seed is not None:
            # equal states, as of a recomputed block, stay equal
            live.manual_seed(zlib.crc32(blob.numpy().tobytes(), self.changes.seed & 0xFFFFFFFF))
            return
        if self.program.generators[generator].device.partition(":")[0] != live.device.type:
            live.manual_seed(0)
            return
        try:
            live.set_state(blob)
        except (RuntimeError, TypeError):
            raise CapsuleError(
                f"{self.capsule.folder} is damaged: random state {state} is missing or wrong; make the incident again"
            ) from None

    def function(self, op: int) -> OpOverload:
        """The operator of a name, one of torch's own. Raises CapsuleError."""
        if op not in self.functions:
            self.functions[op] = resolve(self.program.names[op])
        return self.functions[op]

    def meet_targets(self, number: int) -> None:
        """Compare the targets that were recorded before this op."""
        for index, target in enumerate(self.program.targets):
            if target.at == number:
                tensor = self.memory.tensor(target.ref)
                self.result.targets[target.name] = tensor
                same = digest(tensor) == target.sha256
                self.result.distance[target.name] = (
                    None if same else relative_difference(sample(tensor), self.capsule.blobs.get(f"target/{index}"))
                )
