"""Stored calls: what functions and small classes of one file answered to given values; `tests/calls/`.

    python -m tests.calls --write [TEXT]   keeps what they answer today, of all files or of those with TEXT in the name

A line is one function called once, or one object that is made and then asked several times. Expected are values, not
words: of a sentence only its numbers are kept."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from debugtracer.errors import DebugTracerError

FOLDER = Path(__file__).with_name("calls")
MOST = 64  # items of one value
SIMPLE = (bool, int, float, str, tuple, type(None))
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
WHOLE = ("causes.rewrite",)  # their sentences are code
Line = dict[str, Any]


class NotPlainError(Exception):
    """A value that no line of a file can hold."""


def encoded(value: Any, words: bool = True) -> Any:
    """A value as JSON; without `words` a sentence is its numbers. Raises NotPlainError."""
    if value is None or (isinstance(value, (bool, int, float)) and not isinstance(value, enum.Enum)):
        return value
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return value if words or " " not in value else {"sentence": NUMBER.findall(value)}
    if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > MOST:
        raise NotPlainError(f"{len(value)} items")
    if isinstance(value, list) and type(value) is list:
        return [encoded(one, words) for one in value]
    if type(value) is tuple:
        return {"tuple": [encoded(one, words) for one in value]}
    if type(value) in (set, frozenset):
        items = sorted((encoded(one, words) for one in value), key=json.dumps)
        return {type(value).__name__: items}
    if type(value) is dict:
        return {"dict": [[encoded(key, words), encoded(one, words)] for key, one in value.items()]}
    return special(value, words)


def special(value: Any, words: bool) -> Any:
    """A value of a class of ours, of torch, or a thing with a name."""
    kind = type(value)
    if isinstance(value, enum.Enum):
        return {"member": [named(kind), value.name]}
    if isinstance(value, type) or inspect.isfunction(value) or inspect.isbuiltin(value):
        return {"name": named(value)}
    if kind.__module__.startswith("debugtracer"):
        return {"is": named(kind), "with": {name: encoded(one, words) for name, one in fields(value)}}
    if kind.__module__.startswith("torch"):
        return tensor(value)
    raise NotPlainError(kind.__name__)


def tensor(value: Any) -> Any:
    """A small tensor, a dtype or a device."""
    import torch

    if isinstance(value, (torch.dtype, torch.device)):
        return {"torch": str(value)}
    if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.numel() > MOST or value.layout != torch.strided:
        raise NotPlainError(type(value).__name__)
    if value.device.type != "cpu" or value.dtype.is_complex or value.is_quantized:
        raise NotPlainError(str(value.device))
    numbers = value.detach().float().tolist() if value.dtype.is_floating_point else value.tolist()
    more: dict[str, Any] = {"grad": True} if value.requires_grad else {}
    more |= {"shape": list(value.shape)} if not value.numel() else {}
    return {"tensor": numbers, "dtype": str(value.dtype), **more}


def fields(value: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a Struct or dataclass that are not as they are by default. Raises NotPlainError for others."""
    kind: Any = type(value)
    for name, default in known(kind):
        one = getattr(value, name)
        if type(one) is not type(default) or not isinstance(one, SIMPLE) or one != default:
            yield name, one


@functools.cache
def known(kind: type) -> tuple[tuple[str, Any], ...]:
    """The fields that an object of this class is made with, and their defaults. Raises NotPlainError."""
    if issubclass(kind, msgspec.Struct):
        defaults = kind.__struct_defaults__
        given = (msgspec.NODEFAULT,) * (len(kind.__struct_fields__) - len(defaults)) + defaults
        return tuple(zip(kind.__struct_fields__, given, strict=True))
    if dataclasses.is_dataclass(kind) and all(one.init for one in dataclasses.fields(kind)):
        return tuple((one.name, one.default) for one in dataclasses.fields(kind))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple((name, msgspec.NODEFAULT) for name in kind._fields)
    raise NotPlainError(kind.__name__)


def named(value: Any) -> str:
    """`module:qualname` of a thing that an import finds. Raises NotPlainError."""
    name = f"{value.__module__}:{value.__qualname__}"
    if "<" in name or not value.__module__:
        raise NotPlainError(name)
    return name


class Reader:
    """Finds what is named, where another module may stand in for the one of that name."""

    def __init__(self, instead: Mapping[str, ModuleType] | None = None) -> None:
        self.instead = instead or {}

    def found(self, name: str) -> Any:
        """What `module:qualname` names."""
        module, _, path = name.partition(":")
        value: Any = self.instead.get(module) or importlib.import_module(module)
        for part in path.split("."):
            value = getattr(value, part)
        return value

    def decoded(self, told: Any) -> Any:
        """The value that was encoded."""
        if isinstance(told, list):
            return [self.decoded(one) for one in told]
        if not isinstance(told, dict):
            return told
        for name, make in (("tuple", tuple), ("set", set), ("frozenset", frozenset)):
            if name in told:
                return make(self.decoded(one) for one in told[name])
        if "dict" in told:
            return {self.decoded(key): self.decoded(one) for key, one in told["dict"]}
        if "is" in told:
            return self.found(told["is"])(**{name: self.decoded(one) for name, one in told["with"].items()})
        if "member" in told:
            return self.found(told["member"][0])[told["member"][1]]
        if "name" in told:
            return self.found(told["name"])
        return self.tensor(told)

    def tensor(self, told: Mapping[str, Any]) -> Any:
        """The tensor, dtype or device that was encoded."""
        import torch

        if "torch" in told:
            word = told["torch"]
            return getattr(torch, word.removeprefix("torch.")) if word.startswith("torch.") else torch.device(word)
        made = torch.tensor(told["tensor"], dtype=getattr(torch, told["dtype"].removeprefix("torch.")))
        made = made.reshape(told["shape"]) if "shape" in told else made
        return made.requires_grad_() if "grad" in told else made

    def answers(self, module: str, line: Line) -> list[Any]:
        """What each call of a line gives, and what it leaves in its arguments where that is something else."""
        words = any(part in module for part in WHOLE)
        given: Any = None
        if "make" in line:
            args, kwargs = self.arguments(line["make"])
            given = self.found(f"{module}:{line['make'][0]}")(*args, **kwargs)
        told = []
        for call in line["calls"]:
            args, kwargs = self.arguments(call)
            before = kept(args) if any(map(changeable, args)) else None
            gives = self.asked(module, given, call[0], args, kwargs)
            try:
                answer = encoded(gives, words)
            except NotPlainError as error:
                answer = {"kind": str(error)}
            after = kept(args) if before is not None else None
            told.append({"gives": answer} | ({} if same(before, after) else {"leaves": after}))
        return told

    def arguments(self, call: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, the named ones apart."""
        named = call[2] if len(call) > 2 else {}
        return self.decoded(call[1]), {name: self.decoded(one) for name, one in named.items()}

    def asked(self, module: str, given: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The answer to one call: a function of the module, a method or property of an object; its refusal."""
        try:
            if given is None and "." in name:
                given, *args = args
            called = getattr(given, name.rpartition(".")[2]) if given is not None else self.found(f"{module}:{name}")
            gives = called(*args, **kwargs) if callable(called) else called
            return list(gives) if inspect.isgenerator(gives) else gives
        except DebugTracerError as error:
            return f"raises-{type(error).__name__}"


def changeable(value: Any) -> bool:
    """Whether a call may change a value that it is given: a list, a mapping, a tensor."""
    return isinstance(value, (list, dict, set)) or type(value).__module__.startswith("torch")


def kept(args: list[Any]) -> Any:
    """Arguments as they are now; None where they cannot be told."""
    try:
        return encoded(args)
    except NotPlainError:
        return None


def same(want: Any, got: Any) -> bool:
    """Whether two plain values are equal: floats but for rounding, NaN to itself."""
    if isinstance(want, float) and isinstance(got, float):
        return want == got or abs(want - got) <= 1e-6 * max(abs(want), abs(got)) or (want != want and got != got)
    if isinstance(want, dict) and isinstance(got, dict):
        return want.keys() == got.keys() and all(same(value, got[name]) for name, value in want.items())
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)):
        return len(want) == len(got) and all(map(same, want, got))
    return type(want) is type(got) and bool(want == got)


def files(folder: str) -> list[Path]:
    """The files with stored calls of one folder of ours."""
    return sorted((FOLDER / folder).rglob("*.json"))


def module_of(path: Path) -> str:
    """The module that a file of calls is about."""
    return "debugtracer." + ".".join(path.relative_to(FOLDER).with_suffix("").parts)


def differing(path: Path) -> list[str]:
    """The calls of a file that are answered otherwise than stored."""
    module, found = module_of(path), []
    for line in json.loads(path.read_text()):
        got = json.loads(json.dumps(Reader().answers(module, line)))
        if not same(line["gives"], got):
            found.append(f"{path.name}: {json.dumps(line)[:600]}\n    answered: {json.dumps(got)[:600]}")
    return found


def stored(lines: list[Line]) -> str:
    """The text of a file: a line each."""
    return "[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n"


def write(text: str) -> None:
    """Keep what is answered today."""
    for path in FOLDER.rglob("*.json"):
        if text in str(path.relative_to(FOLDER)):
            module = module_of(path)
            lines = json.loads(path.read_text())
            path.write_text(stored([line | {"gives": Reader().answers(module, line)} for line in lines]))


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(__doc__)
    write("".join(sys.argv[2:3]))
