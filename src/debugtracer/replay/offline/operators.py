"""Which operators an offline replay may run, and how long the memory between them is needed."""

from __future__ import annotations

import torch
from torch._ops import OpOverload

from debugtracer.errors import CapsuleError
from debugtracer.interventions.update_rows import refs_in
from debugtracer.recorder.capsule.program import OWN_NAMESPACES, REFUSED_OPS
from debugtracer.recorder.capsule.recorded import Recorded


def resolve(name: str) -> OpOverload:
    """Resolve `aten::add.Tensor` to the operator. Raises CapsuleError on what torch itself has not registered."""
    qualified, _, overload = name.partition(".")
    namespace, _, packet = qualified.partition("::")
    if (
        namespace in OWN_NAMESPACES
        and packet.isidentifier()
        and overload.isidentifier()
        and qualified not in REFUSED_OPS
    ):
        func = getattr(getattr(getattr(torch.ops, namespace), packet, None), overload, None)
        # TorchScript's own, such as aten::save, have none
        if isinstance(func, OpOverload) and torch._C._dispatch_has_kernel(func._name):
            return func
    raise CapsuleError(
        f"the operator {name[:80]} of this capsule is not one of torch {torch.__version__}; replay it with the version "
        "that wrote it"
    )


def last_uses(program: Recorded) -> dict[int, list[int]]:
    """Map an op number to the storages that nothing after it uses."""
    last: dict[int, int] = {}
    for number, row in enumerate(program.ops):
        for ref in refs_in([row.args, list(row.kwargs.values()), [{"t": ref} for ref in row.outs if ref is not None]]):
            if ref < len(program.refs):
                last[program.refs[ref].storage] = number
    kept = {program.refs[target.ref].storage for target in program.targets}
    free: dict[int, list[int]] = {}
    for storage, number in last.items():
        if storage not in kept:
            free.setdefault(number, []).append(storage)
    return free
