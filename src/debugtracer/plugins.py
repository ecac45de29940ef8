"""The folder is the registry: finds the members of a plural room and names them by their files."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

from debugtracer.errors import swallow

T = TypeVar("T")


def members(package: ModuleType, contract: type[T]) -> dict[str, T]:
    """One instance of each subclass of `contract` below `package`, keyed by its slug (path below the package, dashes for underscores), sorted.

    A member is a class defined in the file that is named after it; classes imported into that file do not count. Reads files; no host sync.
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
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, contract) and value is not contract and value.__module__ == info.name:
                found[slug_of(info.name, package.__name__)] = value()
    return dict(sorted(found.items()))


def slug_of(module: str, package: str) -> str:
    """`debugtracer.checks.numerics.nan_loss` below `debugtracer.checks` is `numerics/nan-loss`."""
    return module.removeprefix(package + ".").replace(".", "/").replace("_", "-")
