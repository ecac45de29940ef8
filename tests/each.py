"""One test over many things of a kind: the contract of every check, cause, fault or file, told together."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each(name: str, things: Iterable[Any], of: Callable[[Any], object] = str) -> Callable[[Any], Any]:
    """Call the test for everything, under the argument `name`, as one test: cheaper than parametrize where each call
    takes less time than pytest's own work for it. Raises AssertionError that lists all that failed."""
    listed = list(things)
    assert listed, f"there is no {name}"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def over_all(**given: Any) -> None:
            failed: dict[object, Exception] = {}
            for thing in listed:
                try:
                    test(**{name: thing}, **given)
                except Exception as error:
                    failed[of(thing)] = error
            if failed:
                told = "\n".join(f"  {which}: {type(error).__name__}: {error}" for which, error in failed.items())
                first = next(iter(failed.values()))
                raise AssertionError(f"{len(failed)} of {len(listed)}:\n{told}") from first

        kept = [given for given in inspect.signature(test).parameters.values() if given.name != name]
        over_all.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        return over_all

    return decorate
