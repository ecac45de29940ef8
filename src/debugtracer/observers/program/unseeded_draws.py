"""Detects draws from a global generator that nothing had seeded: states are compared, nothing is drawn."""

from __future__ import annotations

import ast
import re

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.program_files import program_files
from debugtracer.observers.program.generator_state import GeneratorState, drew, global_states
from debugtracer.source.program import Program

SOURCES = {"python": "random", "numpy": "numpy.random"}  # torch returns its seed itself
SEEDED = {  # a call that may have come before we listened, or by a name that was imported before
    "python": re.compile(r"(?<!\.)\brandom\.seed\(|from\s+random\s+import[^\n]*\bseed\b"),
    "numpy": re.compile(
        r"\.random\.seed\(|from\s+numpy\.random\s+import[^\n]*\bseed\b|from\s+numpy\s+import[^\n]*\brandom\b"
    ),
}


class UnseededDraws:
    """Three comparisons in a run: its start, the first backward, its end. Some 0.2 ms each, 30 ms at most where much
    was drawn."""

    def __init__(self) -> None:
        self.states: dict[str, GeneratorState] = {}
        self.found: set[str] = set()
        self.looks = 0

    def find_unseeded(self, seeded: set[str]) -> frozenset[str]:
        """Return the sources (`python`, `numpy`) drawn from since the first comparison without a seed, as far as that
        can be told."""
        now, before_training = global_states(), self.looks == 1
        self.looks += 1
        for source, name in SOURCES.items():
            before, after = self.states.get(name), now.get(name)
            if (
                source not in seeded
                and source not in self.found
                and before is not None
                and after is not None
                and drew(before, after)
                and not mentioned(source)
                # a library may draw once where it is imported, as rich does: that is no draw of the program's
                and (not before_training or is_named(source))
            ):
                self.found.add(source)
        self.states = now
        return frozenset(self.found - seeded)


def mentioned(source: str) -> bool:
    """Whether a file of the program names the seeding function, or its files cannot all be read: then silence."""
    files = program_files()
    return files is None or any(SEEDED[source].search(text_of(file)) for file in files)


def is_named(source: str) -> bool:
    """Whether a file of the program names this generator, or its files cannot all be read."""
    files = program_files()
    programs = (program_of(file) for file in files or ())
    return files is None or any(has_random(program, source) for program in programs if program is not None)


def has_random(program: Program, source: str) -> bool:
    """Whether a file imports `random`, or numpy's; an attribute of that name is numpy's."""
    for node in program.nodes:
        if isinstance(node, ast.Import) and any(one.name == SOURCES[source] for one in node.names):
            return True
        if isinstance(node, ast.ImportFrom):
            names = {node.module or "", *(f"{node.module}.{one.name}" for one in node.names)}
            if SOURCES[source] in names:
                return True
        if source == "numpy" and isinstance(node, ast.Attribute) and node.attr == "random":
            return True
    return False


def text_of(file: str) -> str:
    """A source file; empty when it cannot be read."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError:
        return ""
