"""Reads a traceback: the user's lines, the modules whose forward ran, the torch functions, and the tensors among the
locals of the innermost call."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frame_locals import local, locals_of
from debugtracer.callsites.frames import LIBRARY, OURS, USER, as_frame, place_of, traceback_frames
from debugtracer.callsites.layer_line import layer_line
from debugtracer.callsites.origins.fallback_id import fallback_id
from debugtracer.callsites.origins.table_size import counted_at
from debugtracer.trace.birth import Frame
from debugtracer.trace.collective import WRAPPERS
from debugtracer.trace.facts.crash import ModuleSeen, TensorSeen
from debugtracer.trace.last_words import FORWARDS

MOST = 16  # tensors and modules named (ours)
FETCHERS = tuple(os.path.join("torch", "utils", "data", *names) for names in (("_utils", "fetch.py"), ("dataset.py",)))
WORKER_LINE = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


@dataclass
class CrashSite:
    """What a traceback shows; holds live objects, so it lives no longer than the look at it."""

    frames: tuple[Frame, ...] = ()
    call: Frame | None = None
    torch_calls: list[str] = field(default_factory=list)
    modules: list[nn.Module] = field(default_factory=list)
    """Innermost first."""
    tensors: dict[str, Tensor] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    iterator: Any = None
    """The DataLoader iterator that was fetching."""
    samples: list[Any] | None = None
    """What it had fetched when it failed, not collated."""
    indices: list[int] | None = None
    sample: int | None = None
    """The dataset index that was being fetched."""


def site_of(error: BaseException) -> CrashSite:
    """The traceback of an exception, read from the inside out."""
    site = CrashSite(frames=worker_frames(str(error)) or traceback_frames(error))
    user: Frame | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):  # outermost first
        place, code = place_of(frame.f_code), frame.f_code
        if place == USER:
            user = as_frame(code, line)
        module = module_of(frame)
        if module is not None and site.call is None:
            site.call = user
        if module is not None and all(module is not seen for seen in site.modules):
            site.modules.insert(0, module)
        if place not in (USER, LIBRARY, OURS) and code.co_name not in WRAPPERS and code.co_name[0] != "<":
            site.torch_calls.insert(0, code.co_name)
        # not the insides of meta and decompositions
        if place != OURS and code.co_name not in WRAPPERS and f"{os.sep}torch{os.sep}_" not in code.co_filename:
            collect_locals(site, frame)
    site.call = site.call or (site.frames[0] if site.frames else None)
    return site


def module_of(frame: FrameType) -> nn.Module | None:
    """The module whose forward this frame runs."""
    code = frame.f_code
    if code.co_name not in ("forward", "_wrapped_call_impl") or not code.co_argcount:
        return None
    first = local(frame, code.co_varnames[0])
    return first if isinstance(first, nn.Module) else None


def collect_locals(site: CrashSite, frame: FrameType) -> None:
    """Take tensors and whole numbers by name; an inner frame with tensors replaces an outer one."""
    values = locals_of(frame)
    if frame.f_code.co_name == "__next__" and hasattr(values.get("self"), "_next_index"):
        site.iterator = values["self"]
    fetched = values.get("idx") if frame.f_code.co_filename.endswith(FETCHERS) else None
    if site.sample is None and type(fetched) is int:  # the outermost one: a part of a dataset has other indices
        site.sample = fetched
    if frame.f_code.co_name == "fetch" and isinstance(values.get("data"), list):
        site.samples, index = values["data"], values.get("possibly_batched_index")
        site.indices = (
            [int(i) for i in index]
            if isinstance(index, (list, tuple)) and all(isinstance(i, int) for i in index)
            else None
        )
    found = named_tensors(values)
    if found:
        site.tensors = found
        site.numbers = {
            name: v
            for name, v in values.items()
            if isinstance(v, int) and not isinstance(v, bool) and not name.startswith("_")
        }


def named_tensors(values: Mapping[str, Any]) -> dict[str, Tensor]:
    """The tensors among locals, also inside short lists and tuples."""
    found: dict[str, Tensor] = {}
    for name, value in values.items():
        if isinstance(value, Tensor):
            found[name] = value
        elif (
            isinstance(value, (list, tuple))
            and 0 < len(value) <= MOST
            and all(isinstance(v, Tensor) for v in value)
            and name != "params"
        ):
            found |= {f"{name}[{i}]": v for i, v in enumerate(value)}
    return dict(list(found.items())[:MOST])


def worker_frames(message: str) -> tuple[Frame, ...]:
    """Parse user lines of the traceback that a loader worker or a spawned rank sent as text, innermost first."""
    if "Original Traceback" not in message and "-- Process " not in message:
        return ()
    import linecache

    lines = [(file, int(line), name) for file, line, name in WORKER_LINE.findall(message) if is_user_file(file)]
    lines = [line for line in lines if line[2] != FORWARDS]
    return tuple(Frame(file, line, name, linecache.getline(file, line).strip()) for file, line, name in reversed(lines))


def seen_tensor(name: str, tensor: Tensor) -> TensorSeen:
    """Describe shape, dtype and device, for integers on the CPU also the range."""
    low = high = None
    if is_lazy(tensor) or tensor.is_nested:  # they have no shape that could be asked for
        return TensorSeen(
            name=name,
            shape=(),
            dtype=str(tensor.dtype).removeprefix("torch."),
            device=str(tensor.device),
            needs_grad=tensor.requires_grad,
        )
    integers = (
        not (tensor.is_floating_point() or tensor.is_complex())
        and tensor.device.type == "cpu"
        and str(tensor.dtype) != "torch.bool"
    )
    if integers and tensor.numel():
        low, high = int(tensor.min()), int(tensor.max())
    floats = tensor.is_floating_point() and tensor.device.type == "cpu" and tensor.layout == torch.strided
    return TensorSeen(
        name=name,
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
        low=low,
        high=high,
        needs_grad=tensor.requires_grad,
        nonfinite=int((~torch.isfinite(tensor.detach())).sum()) if floats else 0,
    )


def seen_module(path: str, module: nn.Module, running: Sequence[nn.Module] = ()) -> ModuleSeen:
    """Describe a module: class, whole-number settings, and the dtype and device of its own parameters."""
    own = list(nn.Module.parameters(module, recurse=False)) or list(module.parameters())[:1]
    dtypes, devices = {str(p.dtype).removeprefix("torch.") for p in own}, {str(p.device) for p in own}
    sizes = {
        name: int(v)
        for name, v in vars(module).items()
        if isinstance(v, Integral) and not isinstance(v, bool) and not name.startswith("_")  # of numpy, too
    }
    shaped = getattr(module, "normalized_shape", None)
    sizes |= {f"normalized_shape[{i}]": n for i, n in enumerate(shaped)} if isinstance(shaped, tuple) else {}
    built = layer_line(module, running) if sizes else None
    return ModuleSeen(
        path=path,
        kind=type(module).__name__,
        sizes=dict(list(sizes.items())[:MOST]),
        dtype=dtypes.pop() if len(dtypes) == 1 else None,
        device=devices.pop() if len(devices) == 1 else None,
        built=built,
        counted=counted_at(built, sizes["num_embeddings"]) if built is not None and "num_embeddings" in sizes else None,
        short=fallback_id() if "num_embeddings" in sizes else None,
    )
