"""Detects draws from a global generator that nothing had seeded: states are compared, nothing is drawn."""

from __future__ import annotations

import ast
import random
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


FEW = 2  # numbers that libraries draw where they are imported in the course of training, as rich does (ours)


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
                and (is_used(source) or not (before_training or is_a_few(before, after)))
            ):
                self.found.add(source)
        self.states = now
        return frozenset(self.found - seeded)


def mentioned(source: str) -> bool:
    """Whether a file of the program names the seeding function, or its files cannot all be read: then silence."""
    files = program_files()
    return files is None or any(SEEDED[source].search(text_of(file)) for file in files)


def is_used(source: str) -> bool:
    """Whether a file of the program uses this generator, or its files cannot all be read."""
    files = program_files()
    programs = (program_of(file) for file in files or ())
    return files is None or any(has_random(program, source) for program in programs if program is not None)


def has_random(program: Program, source: str) -> bool:
    """Whether a file imports `random`, or numpy's, and uses it; an attribute of that name is numpy's."""
    own: set[str] = set()
    for node in program.nodes:
        if isinstance(node, ast.Import):
            own |= {one.asname or one.name.partition(".")[0] for one in node.names if one.name == SOURCES[source]}
        elif isinstance(node, ast.ImportFrom):
            whole = node.module == SOURCES[source]
            own |= {
                one.asname or one.name for one in node.names if whole or f"{node.module}.{one.name}" == SOURCES[source]
            }
        elif source == "numpy" and isinstance(node, ast.Attribute) and node.attr == "random":
            return True
    return any(node.id in own and isinstance(node.ctx, ast.Load) for node in program.every(ast.Name))


def is_a_few(before: GeneratorState, after: GeneratorState) -> bool:
    """Whether as few numbers were drawn as an import takes."""
    if before.twister is None or after.twister is None:
        return False
    copy = random.Random()
    copy.setstate((3, before.twister, None))
    drawn = (copy.getrandbits(32) for _ in range(FEW))
    return any(copy.getstate()[1] == after.twister for _ in drawn)


def text_of(file: str) -> str:
    """A source file; empty when it cannot be read."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError:
        return ""
