"""The line of a settings file (JSON, YAML, TOML, INI) that gives a key a number: of the files that the program names,
the only line where that number stands under that key."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from debugtracer.callsites.data_lines import LONGEST, SETTINGS, SMALL_BYTES, named_files, read_lines
from debugtracer.trace.birth import Frame

NUMBER = r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][-+]?\d+)?"


def settings_line(name: str, number: float) -> Frame | None:
    """The only line of the settings files of the program that gives a key of that name this number; None where none
    does, or several do."""
    found = settings_lines(named_files(None, endings=SETTINGS), name, number)
    return found[0] if len(found) == 1 else None


def settings_lines(files: Sequence[Path], name: str, number: float) -> list[Frame]:
    """Return every line of these files that gives such a key this number."""
    written = re.compile(rf"(?<![\w.-])[\"']?{re.escape(name)}[\"']?\s*[:=]\s*({NUMBER})(?![\w.])")
    found = []
    for file in files:
        for at, line in enumerate(read_lines(file) if file.stat().st_size <= SMALL_BYTES else ()):
            plain = line if file.suffix == ".json" else line.partition("#")[0]
            values = [float(one.replace("_", "")) for one in written.findall(plain)]
            if any(math.isclose(value, number, rel_tol=1e-9) for value in values):
                found.append(Frame(str(file), at + 1, "", line.strip()[:LONGEST]))
    return found
