"""Detects draws from a global generator that nothing had seeded: states are compared, nothing is drawn."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from debugtracer.callsites.construction import is_user_file
from debugtracer.observers.program.generator_state import GeneratorState, drew, global_states

SOURCES = {"python": "random", "numpy": "numpy.random"}  # torch returns its seed itself
SEEDED = {  # a call that may have come before we listened, or by a name that was imported before
    "python": re.compile(r"(?<!\.)\brandom\.seed\(|from\s+random\s+import[^\n]*\bseed\b"),
    "numpy": re.compile(
        r"\.random\.seed\(|from\s+numpy\.random\s+import[^\n]*\bseed\b|from\s+numpy\s+import[^\n]*\brandom\b"
    ),
}
NAMED = {"python": re.compile(r"(?<!\.)\brandom\b"), "numpy": re.compile(r"\.random\b|\bimport\b[^\n]*\brandom\b")}
"""What a program that draws itself has in one of its files."""
MOST = 64  # files of the program that are searched for such a call (ours)


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
                and not mentioned(source, SEEDED)
                # a library may draw once where it is imported, as rich does: that is no draw of the program's
                and (not before_training or mentioned(source, NAMED))
            ):
                self.found.add(source)
        self.states = now
        return frozenset(self.found - seeded)


def mentioned(source: str, words: Mapping[str, re.Pattern[str]]) -> bool:
    """Whether a file of the program has these words, or there is no file to read (a notebook)."""
    if not getattr(sys.modules.get("__main__"), "__file__", None):
        return True
    files = [
        file
        for module in list(sys.modules.values())
        if isinstance(file := getattr(module, "__file__", None), str) and is_user_file(file)
    ]
    return len(files) > MOST or any(words[source].search(text_of(file)) for file in files)


def text_of(file: str) -> str:
    """A source file; empty when it cannot be read."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError:
        return ""
