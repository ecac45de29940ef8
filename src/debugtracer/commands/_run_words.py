"""The words of `debug-tracer run`, read without typer where they are plain: it costs a tenth of a second at each start.
Whatever is not plain (--help, a wrong option) is typer's to read and to answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class RunWords(NamedTuple):
    """A command under watch, and the options that stood before it."""

    command: list[str]
    options: dict[str, Any]


def count(word: str) -> int:
    """A whole number from 0. Raises ValueError."""
    if not word.isascii() or not word.isdigit():
        raise ValueError(word)
    return int(word)


def share(word: str) -> float:
    """A number from 0. Raises ValueError."""
    value = float(word)
    if not value >= 0:
        raise ValueError(word)
    return value


READERS: dict[str, Callable[[str], Any]] = {
    "--out": Path,
    "--name": str,
    "--mode": str,
    "--capture": str,
    "--fail-on": str,
    "--preset": str,
    "--cost": share,
    "--inspect-steps": count,
    "--function-tests": str,
    "--trials": count,
    "--respond": str,
    "--skip-list": Path,
    "--webhook": str,
    "--apprise": str,
    "--metrics-port": count,
    "--otlp": str,
}
SEVERAL = frozenset({"--respond", "--apprise"})


def parsed(words: list[str]) -> RunWords | None:
    """What the words of a plain `run` say, None for all others; options that were left out are None."""
    if not words or words[0] != "run":
        return None
    options: dict[str, Any] = dict.fromkeys(map(field_of, READERS))
    rest = words[1:]
    while rest and rest[0].startswith("--"):
        option, given, value = rest.pop(0).partition("=")
        if option == "--" and not given:
            break  # the command begins
        if option not in READERS or not (given or rest):
            return None
        word = value if given else rest.pop(0)
        if not word or word.startswith("-"):
            return None
        try:
            read = READERS[option](word)
        except ValueError:
            return None
        options[field_of(option)] = [*(options[field_of(option)] or ()), read] if option in SEVERAL else read
    return RunWords(rest, options) if (rest and not rest[0].startswith("-")) or rest[:1] == ["-m"] else None


def field_of(option: str) -> str:
    """The setting of an option: `--fail-on` is `fail_on`."""
    return option.removeprefix("--").replace("-", "_")
