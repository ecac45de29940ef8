"""The files of a program as trees."""

from __future__ import annotations

from collections.abc import Iterable

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.source.program import Program


def programs_of(files: Iterable[str] | None) -> list[Program]:
    """The files of the user's among these as trees."""
    return [program for file in files or () if (program := program_of(file)) is not None]
