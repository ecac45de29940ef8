"""Finds plug-ins: every class in a plug-in folder, named by its file, and those that users bring."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from debugtracer.errors import DebugTracerError, swallow

T = TypeVar("T")


def members(package: ModuleType, contract: type[T], *given: object) -> dict[str, T]:
    """Return an instance of each subclass of `contract` below `package`, sorted, by its slug (path with dashes).

    `given` goes to the constructor of each. A member is a class defined in the file that is named after it; classes
    imported into that file do not count. Reads files; no host sync.
    """
    found: dict[str, T] = {}
    prefix = package.__name__ + "."
    for info in pkgutil.walk_packages(package.__path__, prefix):
        if info.ispkg:
            continue
        try:
            module = importlib.import_module(info.name)
        except Exception as error:  # one file that cannot be imported must not cost the others
            swallow(f"plugins: {info.name}", error)
            continue
        for value in defined(module, contract):
            found[slug_of(info.name, package.__name__)] = value(*given)
    return dict(sorted(found.items()))


def members_from(folder: Path, contract: type[T]) -> dict[str, T]:
    """Return an instance of each subclass of `contract` in a user's folder, by the name of the class (`full-moon`).

    A file that cannot be imported is counted like a failure of ours and costs nothing else, as does a folder that is
    not there."""
    found: dict[str, T] = {}
    if not folder.is_dir():
        swallow(f"plugins: {folder}", DebugTracerError("there is no such folder; expected one with .py files"))
    for file in sorted(folder.glob("[!_.]*.py")):
        try:
            found |= {named(kind): kind() for kind in defined(loaded(file), contract)}
        except Exception as error:
            swallow(f"plugins: {file}", error)
    return found


def members_installed(group: str, contract: type[T]) -> dict[str, T]:
    """Return an instance of each subclass that installed packages offer as entry points of this group, by class
    name."""
    found: dict[str, T] = {}
    for point in metadata.entry_points(group=group):
        try:
            kind = point.load()
            if not (isinstance(kind, type) and issubclass(kind, contract)):
                raise TypeError(f"{point.value} is no subclass of {contract.__name__}")
            found[named(kind)] = kind()
        except Exception as error:
            swallow(f"plugins: entry point {point.name} of {group}", error)
    return found


def joined(own: dict[str, T], *further: dict[str, T]) -> dict[str, T]:
    """Merge ours and what users bring, sorted; a name of ours that a user takes stays ours, and that is counted."""
    found = dict(own)
    for brought in further:
        for slug, member in brought.items():
            if slug in found:
                swallow(
                    f"plugins: {slug}",
                    DebugTracerError(
                        f"{type(member).__module__} brings a name that is taken; give its class another one"
                    ),
                )
            else:
                found[slug] = member
    return dict(sorted(found.items()))


def defined(module: ModuleType, contract: type[T]) -> Iterator[type[T]]:
    """Yield subclasses that the module itself defines."""
    for value in vars(module).values():
        # its module first: to ask an abstract class for its subclasses is dear
        if (
            isinstance(value, type)
            and value.__module__ == module.__name__
            and value is not contract
            and contract in value.__mro__
        ):
            yield value


def loaded(file: Path) -> ModuleType:
    """A file as a module that no import finds: two folders may have files of one name."""
    spec = importlib.util.spec_from_file_location(f"debugtracer_brought.{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(kind: type) -> str:
    """The slug of a class that users bring: `FullMoon` is `full-moon`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", kind.__name__).lower()


@functools.cache
def slug_of(module: str, package: str) -> str:
    """Derive a slug from a module: `debugtracer.checks.numerics.nan_loss` is `numerics/nan-loss`."""
    return module.removeprefix(package + ".").replace(".", "/").replace("_", "-")
