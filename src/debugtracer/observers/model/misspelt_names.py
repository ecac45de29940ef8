"""Looks once for attributes that torch does not read, beside those that it does: `layer.weights = ...`,
`parameter.require_grad = False`, `module.requires_grad = False`."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.roots import plain_path
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.misspelt_name import MisspeltName

TENSORS = {
    **dict.fromkeys(("weights", "Weight", "Weights", "weigth", "weigths", "wieght", "wieghts"), "weight"),
    **dict.fromkeys(("biases", "Bias", "Biases", "bais"), "bias"),
}
FLAGS = frozenset(
    {"require_grad", "requires_grads", "require_grads", "required_grad", "requires_gradient", "require_gradient",
     "requires_gradients", "requiers_grad", "requries_grad", "requre_grad"}
)  # fmt: skip
FLAG = "requires_grad"
LISTED = frozenset({"parameters", "named_parameters"})
"""What lists the parameters of a module."""
MODULES = frozenset({"modules", "children", "named_modules", "named_children"})
MOST = 4  # attributes told of (ours)


class MisspeltNamesObserver(Observer):
    """Reads names of attributes once, after the first backward; no value of a tensor."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.done = False

    def reset(self) -> None:
        self.done = False

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Walk the models called so far, then listen no more."""
        self.run.unsubscribe(self.backward_ended)
        if self.done:
            return
        self.done = True
        files = {code.co_filename: None for code, _ in raw_frames(1)}
        told: dict[object, None] = {}
        # a scripted module has no plain attributes
        for root in (one for one in self.run.modules() if not isinstance(one, torch.jit.ScriptModule)):
            for fact in self.found(root, list(files)):
                if len(told) < MOST and fact.key() not in told:
                    told[fact.key()] = None
                    self.run.emit(fact)

    def found(self, root: nn.Module, files: list[str]) -> Iterator[MisspeltName]:
        """Yield what is wrong below a root."""
        parts = dict(root.named_modules())
        last_names = frozenset(name.rpartition(".")[2] for name, _ in root.named_parameters())
        for path, module in parts.items():
            where = plain_path(path) or type(root).__name__
            around = type(parts.get(path.rpartition(".")[0], root))
            for name, meant in tensors_beside(module):
                if is_read(name, [*files_of(around), *files]):
                    continue
                yield MisspeltName(
                    ref=self.run.ref("forward"), path=where, layer=type(module).__name__, name=name, meant=meant,
                    frame=set_at(name, [*files_of(around), *files]),
                )  # fmt: skip
            value, against = flag_of(module)
            if against and not is_read(FLAG, files, path.rpartition(".")[2]):
                at = set_at(FLAG, [*files, *files_of(around)], value, last_names)
                yield MisspeltName(
                    ref=self.run.ref("forward"), path=where, layer=type(module).__name__, name=FLAG, meant=FLAG,
                    value=value, parameters=against, frame=at,
                )  # fmt: skip
        flags = [(path, *flag) for path, p in root.named_parameters() if (flag := misspelt_flag(p)) is not None]
        for path, name, value in [flag for flag in flags if not is_read(flag[1], files)][:1]:
            yield MisspeltName(
                ref=self.run.ref("forward"), path=plain_path(path), layer="Parameter", name=name, meant=FLAG,
                value=value, parameters=len(flags), frame=set_at(name, [*files, *files_of(type(root))], value),
            )  # fmt: skip


def tensors_beside(module: nn.Module) -> Iterator[tuple[str, str]]:
    """Yield the tensors of a layer of torch under nearly the name, and with the shape, of a parameter that it reads."""
    if not type(module).__module__.startswith("torch.nn.modules.") or isinstance(module, torch.jit.ScriptModule):
        return
    for name, meant in TENSORS.items():
        value = module._parameters.get(name, vars(module).get(name))
        read = module._parameters.get(meant)
        if not isinstance(value, Tensor) or read is None or value is read or is_lazy(value) or is_lazy(read):
            continue
        if value.shape == read.shape:
            yield name, meant


def flag_of(module: nn.Module) -> tuple[bool, int]:
    """What `requires_grad` of a module was set to, and how many parameters below it say the opposite; torch reads that
    of parameters alone. A class that keeps such an attribute itself has a use for it."""
    value = vars(module).get(FLAG)
    if not isinstance(value, bool) or (hasattr(type(module), FLAG) and not callable(getattr(type(module), FLAG))):
        return False, 0
    own = [one for kind in type(module).__mro__ for one in vars(kind).values() if inspect.isfunction(one)]
    if any(FLAG in one.__code__.co_names for one in own if is_user_file(one.__code__.co_filename)):
        return value, 0
    flags = [p.requires_grad for p in module.parameters()]
    return value, sum(flag != value for flag in flags) if flags and all(f != value for f in flags) else 0


def misspelt_flag(parameter: Tensor) -> tuple[str, bool] | None:
    """The flag of a parameter under a wrong name, where it says something else than the one that torch reads."""
    for name, value in getattr(parameter, "__dict__", {}).items():
        if name in FLAGS and isinstance(value, bool) and value != parameter.requires_grad:
            return name, value
    return None


def is_read(name: str, files: list[str], holder: str | None = None) -> bool:
    """Whether the program (these files, and what is imported from the folder of the first) reads such an attribute
    itself; with a holder that of a module: of the one called so, by its name as a string, or in a loop over modules."""
    folders = tuple(f"{os.path.dirname(file)}{os.sep}" for file in files[:1] if is_user_file(file))
    known = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    imported = [file for file in known if isinstance(file, str) and file.startswith(folders)]
    holding = [file for file in dict.fromkeys([*files, *imported]) if name in "".join(linecache.getlines(file))]
    return any(reads(one, name, holder) for file in holding if (one := program_of(file)) is not None)


def reads(program: Program, name: str, holder: str | None) -> bool:
    """Whether one file of the program looks such an attribute up."""
    for node in program.nodes:
        called = node.func if isinstance(node, ast.Call) else None
        asked = isinstance(node, ast.Call) and any(isinstance(a, ast.Constant) and a.value == name for a in node.args)
        if asked and isinstance(called, ast.Name) and called.id in ("getattr", "hasattr"):
            return True
        if not isinstance(node, ast.Attribute) or node.attr != name or not isinstance(node.ctx, ast.Load):
            continue
        if holder is None:
            if not is_option(program, node.value):
                return True
        elif ast.unparse(node.value).rpartition(".")[2] == holder or over_modules(program, node.value):
            return True
    return False


def is_option(program: Program, holder: ast.expr) -> bool:
    """Whether a name is what the command line was parsed into: its attributes are options."""
    made = (
        n.value.func
        for n in program.nodes
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and isinstance(holder, ast.Name)
        and any(isinstance(t, ast.Name) and t.id == holder.id for t in n.targets)
    )  # fmt: skip
    return any(isinstance(func, ast.Attribute) and func.attr == "parse_args" for func in made)


def over_modules(program: Program, holder: ast.expr) -> bool:
    """Whether a name is bound by a loop over the modules of a model."""
    loops = [n for n in program.above(holder) if isinstance(n, (ast.For, ast.ListComp, ast.GeneratorExp, ast.SetComp))]
    parts = [part for loop in loops for part in ([loop] if isinstance(loop, ast.For) else loop.generators)]
    return any(
        isinstance(holder, ast.Name)
        and holder.id in {n.id for n in ast.walk(part.target) if isinstance(n, ast.Name)}
        and any(isinstance(n, ast.Attribute) and n.attr in MODULES for n in ast.walk(part.iter))
        for part in parts
    )


def files_of(kind: type[Any]) -> list[str]:
    """The file of a class of the user's."""
    try:
        file = inspect.getsourcefile(kind)
    except (TypeError, OSError):
        return []
    return [file] if file is not None and is_user_file(file) else []


def set_at(
    name: str, files: list[str], value: bool | None = None, parameters: frozenset[str] | None = None
) -> Frame | None:
    """The first line of these files that sets such an attribute, to this value where it is a flag. With `parameters`,
    the last names of those of a model, the first that sets it of something else than a parameter."""
    for file in dict.fromkeys(files):
        program = program_of(file)
        nodes = program.nodes if program is not None else []
        for node in sorted((n for n in nodes if isinstance(n, ast.Assign)), key=lambda n: n.lineno):
            other = isinstance(node.value, ast.Constant) and node.value.value is not value
            named = [t.value for t in node.targets if isinstance(t, ast.Attribute) and t.attr == name]
            if program is not None and parameters is not None:
                named = [holder for holder in named if not is_parameter(program, holder, parameters)]
            if named and not (value is not None and other):
                return Frame(file=file, line=node.lineno, function="", code=ast.unparse(node))
    return None


def is_parameter(program: Program, holder: ast.expr, parameters: frozenset[str]) -> bool:
    """Whether an expression is a parameter: an attribute by the name of one, or what a loop over parameters is at."""
    if isinstance(holder, ast.Attribute):
        return holder.attr in parameters
    loops = [
        n
        for n in program.above(holder)
        if isinstance(n, ast.For)
        and any(isinstance(one, ast.Attribute) and one.attr in LISTED for one in ast.walk(n.iter))
    ]
    bound = {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    return isinstance(holder, ast.Name) and holder.id in bound
