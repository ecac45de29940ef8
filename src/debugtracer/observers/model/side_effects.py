"""May a model be called once more without anybody noticing? Reads the user's code of its forward, without running
it."""

from __future__ import annotations

import builtins
import dis
import logging
from collections.abc import Iterator
from itertools import pairwise
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import USER, place_of
from debugtracer.callsites.nested_code import with_nested
from debugtracer.observers.model.copied_functions import functions_with_parts
from debugtracer.observers.model.made_weights import makes_weight

SPEAKS = {"print", "open", "input", "exec", "eval", "breakpoint", "__import__", "globals", "setattr", "delattr"}
COPYING = ("__deepcopy__", "__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
ASKS = {"get_rank", "get_world_size", "get_backend", "is_initialized", "is_available"}  # no other rank is needed for it
DEPTH = 4  # functions called by functions that are read (ours)
HARMLESS = (
    int,
    float,
    str,
    bytes,
    bool,
    type(None),
    Tensor,
    torch.dtype,
    torch.device,
    nn.Module,
    ModuleType,
    type,
    BuiltinFunctionType,
    logging.Logger,
)


def side_effect(model: nn.Module) -> str | None:
    """The first thing in the user's code of a model that somebody could notice when it runs again; None when there is
    none.

    Attributes of modules do not count: the copy that is called has its own. Library code is trusted."""
    seen: set[CodeType] = set()
    for module in model.modules():
        if hooks(module):
            return f"hooks on {type(module).__name__}"
        if isinstance(module, (torch.jit.ScriptModule, nn.modules.lazy.LazyModuleMixin, nn.SyncBatchNorm)):
            return type(module).__name__
        if any(
            type(t) not in (Tensor, nn.Parameter)
            for t in (*nn.Module.parameters(module, recurse=False), *nn.Module.buffers(module, recurse=False))
        ):
            return f"tensors of a class of its own in {type(module).__name__}"
        changed = own_ways(module)
        if changed:
            return f"{changed} of its own in {type(module).__name__}"
        forward = type(module).forward
        found = of_function(forward, seen, DEPTH, type(module)) if isinstance(forward, FunctionType) else None
        if found:
            return found
    return next((found for held in functions_with_parts(model) if (found := of_function(held, seen, DEPTH))), None)


def own_ways(module: nn.Module) -> str | None:
    """A way of calling, copying or reading attributes that is not nn.Module's; None when all are."""
    if "forward" in vars(module):
        return "forward"
    kind = type(module)
    if any(
        getattr(kind, name, None) is not getattr(nn.Module, name, None) and not is_torchs(kind, name)
        for name in ("__call__", "__getattr__", "__setattr__", "__getattribute__")
    ):
        return "__call__ or attributes"
    return next(
        (
            name
            for name in COPYING
            if any(name in vars(k) for k in kind.__mro__ if k.__module__.split(".")[0] not in ("torch", "builtins"))
        ),
        None,
    )


def is_torchs(kind: type, name: str) -> bool:
    """Whether torch's own class gives this method (recurrent networks note which weights are set)."""
    owner = next((k for k in kind.__mro__ if name in vars(k)), object)
    return owner.__module__.startswith("torch.nn.modules.")


def hooks(module: nn.Module) -> bool:
    """Whether somebody listens to this module: torch's own hooks only make its weight anew, and a copy has its own."""
    held = [
        getattr(module, name, None) or {}
        for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    ]
    return any(not makes_weight(hook) for one in held for hook in one.values())


def of_function(function: FunctionType, seen: set[CodeType], depth: int, owner: type | None = None) -> str | None:
    """Check one function of the user's, the methods of its class that it names, and the functions; None if harmless."""
    code = function.__code__
    if code in seen or place_of(code) != USER:
        return None
    seen.add(code)
    for one in with_nested(code):
        steps = list(dis.get_instructions(one))
        loaded = {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        if SPEAKS & loaded:
            return f"{', '.join(sorted(SPEAKS & loaded))} in {code.co_name}"
        if any(step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for step in steps):
            return f"a global written in {code.co_name}"
        written = foreign_write(one, steps) or shared_value(function, steps) or exchange(function, steps)
        if written:
            return f"{written} in {code.co_name}"
        for name, value in named(function, loaded):
            found = of_value(name, value, seen, depth)
            if found:
                return found
        for name in one.co_names:
            method = getattr(owner, name, None) if owner is not None else None
            if isinstance(method, FunctionType) and (found := of_function(method, seen, depth, owner)):
                return found
    return None


def foreign_write(code: CodeType, steps: list[dis.Instruction]) -> str | None:
    """An attribute written on anything but the object the method belongs to; None when there is none."""
    own = code.co_varnames[0] if code.co_argcount else ""
    lines = dict(dis.findlinestarts(code))
    line: int | None = None
    on_line: list[dis.Instruction] = []
    for step in steps:
        if step.offset in lines and lines[step.offset] != line:
            line, on_line = lines[step.offset], []
        if step.opname in ("STORE_ATTR", "DELETE_ATTR"):
            owners = {s.argval for s in on_line if s.opname.startswith("LOAD_")} & {own}
            last = next(
                (
                    s
                    for s in reversed(on_line)
                    if s.opname.startswith("LOAD_") and s.opname not in ("LOAD_ATTR", "LOAD_CONST", "LOAD_METHOD")
                ),
                None,
            )
            # self.n += 1 reads what it writes
            again = any(s.opname == "LOAD_ATTR" and s.argval == step.argval for s in on_line)
            if (
                not owners
                or last is None
                or (last.argval != own and not again)
                or foreign_read(on_line, step.argval, own)
            ):
                return f"attribute {step.argval} of another object written"
        on_line.append(step)
    return None


def foreign_read(steps: list[dis.Instruction], name: str, own: str) -> bool:
    """True if the attribute that is written is read from something else on the same line: `Net.n += 1`."""
    loads = [s for s in steps if s.opname.startswith("LOAD_") or s.opname == "COPY"]
    read = [(a, b) for a, b in pairwise(loads) if b.opname == "LOAD_ATTR" and b.argval == name]
    return any(a.opname.startswith("LOAD_") and a.argval != own for a, _ in read)


def shared_value(function: FunctionType, steps: list[dis.Instruction]) -> str | None:
    """A list, a dict or an object that hangs on a class or a module: its methods may change it; None when there is
    none."""
    kept = [step for step in steps if step.opname not in ("CACHE", "EXTENDED_ARG", "PUSH_NULL")]
    for a, b in pairwise(kept):
        owner = function.__globals__.get(a.argval) if a.opname in ("LOAD_GLOBAL", "LOAD_NAME") else None
        if b.opname not in ("LOAD_ATTR", "LOAD_METHOD") or not isinstance(owner, (type, ModuleType)):
            continue
        value = getattr(owner, b.argval, None)
        plain = isinstance(value, (*HARMLESS, tuple, frozenset, property)) or callable(value)
        if isinstance(value, (list, dict, set, bytearray)) or not plain:
            return f"{a.argval}.{b.argval}, a {type(value).__name__} that others see,"
    return None


def exchange(function: FunctionType, steps: list[dis.Instruction]) -> str | None:
    """A call that waits for other ranks (`dist.all_reduce`); None when there is none."""
    value: Any = None
    for step in steps:
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = function.__globals__.get(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            value = getattr(value, step.argval, None)
        elif step.opname not in ("CACHE", "EXTENDED_ARG"):
            value = None
        if waits(value):
            return f"{value.__name__} between ranks"
    return None


def waits(value: Any) -> bool:
    """Whether a function exchanges something with other ranks."""
    home = getattr(value, "__module__", None) or ""
    return callable(value) and home.startswith("torch.distributed") and getattr(value, "__name__", "") not in ASKS


def named(function: FunctionType, loaded: set[Any]) -> Iterator[tuple[str, Any]]:
    """Yield globals and closure values that the code names."""
    for name in sorted(loaded):
        if name in function.__globals__ and not hasattr(builtins, name):
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


def of_value(name: str, value: Any, seen: set[CodeType], depth: int) -> str | None:
    """A global that the code names: what it is, or what it does when it is a function."""
    function = value.__func__ if isinstance(value, MethodType) else value
    if isinstance(function, FunctionType):
        return of_function(function, seen, depth - 1) if depth else f"calls too deep in {name}"
    if isinstance(value, HARMLESS) or (
        isinstance(value, (tuple, frozenset)) and all(isinstance(v, HARMLESS) for v in value)
    ):
        return None
    if callable(value) and type(value).__module__.startswith(("torch", "builtins", "numpy", "functools")):
        return None
    return f"{name}, a {type(value).__name__} outside the model"
