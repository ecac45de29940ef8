"""Reads faults/programs: whole healthy training programs, and the faults that can be planted in each of them.

    python scripts/plants.py                           lists every plant: its class, symptom, first bad iteration
    python scripts/plants.py PROGRAM PLANT             prints the faulty program
    python scripts/plants.py PROGRAM PLANT --fixed     prints it as a person would cure it
    python scripts/plants.py PROGRAM PLANT --truth     prints the known answer, as truth.json would say it

The format is told in faults/programs/README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parent.parent / "faults" / "programs"
NULLS = ("module", "op", "sample_index", "param", "rank")
"""Fields of truth.json that a plant may leave out; null means that they are not scored."""


class PlantError(ValueError):
    """A plant that does not fit its program; the message names the plant, the text and what was expected."""


@dataclass(frozen=True)
class Plant:
    """One fault of one program: the edits that plant it, and what is known about it."""

    folder: Path
    entry: dict[str, Any]

    @property
    def program(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def name(self) -> str:
        """`PROGRAM/PLANT`."""
        return f"{self.program}/{self.entry['name']}"

    def source(self) -> str:
        """The faulty program."""
        return self._edited((self.folder / "train.py").read_text(), self.entry["edits"], "train.py")

    def fixed(self) -> str:
        """The faulty program as a person would cure it (not always the healthy one back)."""
        return self._edited(self.source(), self.entry["fixed"], "the faulty program")

    def truth(self) -> dict[str, Any]:
        """The known answer in the form of truth.json; lines are counted in `source()`."""
        lines = {"line": self.line(self.entry["at"])} | self._more_lines()
        own = {
            key: value
            for key, value in self.entry.items()
            if key not in {"name", "edits", "fixed", "at", "symptom_at", "accept_at"}
        }
        return (
            {"first_bad_step": None, "source": f"planted in faults/programs/{self.program}"}
            | dict.fromkeys(NULLS)
            | own
            | lines
        )

    def line(self, text: str) -> int:
        """The 1-based line of the faulty program that holds `text`, which must occur exactly once."""
        source = self.source()
        self._once(source, text, "the faulty program")
        return source[: source.index(text)].count("\n") + 1

    def _more_lines(self) -> dict[str, Any]:
        """The optional lines: where the symptom shows, and those that are as good."""
        found: dict[str, Any] = {}
        if "symptom_at" in self.entry:
            found["symptom_line"] = self.line(self.entry["symptom_at"])
        if "accept_at" in self.entry:
            found["accept_lines"] = [self.line(text) for text in self.entry["accept_at"]]
        return found

    def _edited(self, text: str, edits: list[list[str]], where: str) -> str:
        """Each old text replaced by its new one, in order."""
        for old, new in edits:
            self._once(text, old, where)
            text = text.replace(old, new)
        return text

    def _once(self, text: str, part: str, where: str) -> None:
        """Raises where `part` is not there, or there more than once."""
        if (count := text.count(part)) != 1:
            raise PlantError(
                f"{self.name} - {part!r} occurs {count} times in {where} - expected exactly once - quote more or less "
                "of the line"
            )


def plants(folder: Path = PROGRAMS) -> Iterator[Plant]:
    """Every plant below `folder` (all programs), or of `folder` itself where it holds a plants.toml."""
    import tomllib  # Python 3.11; what reads no plants runs on 3.10 too

    for file in [folder / "plants.toml"] if (folder / "plants.toml").exists() else sorted(folder.glob("*/plants.toml")):
        for entry in tomllib.loads(file.read_text())["plant"]:
            yield Plant(file.parent, entry)


def programs(folder: Path = PROGRAMS) -> list[Path]:
    """The folders of all programs."""
    return [file.parent for file in sorted(folder.glob("*/train.py"))]


def main() -> int:
    """Print what was asked for; status 2 where there is no such plant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="a folder of faults/programs")
    parser.add_argument("plant", nargs="?", help="the name of one of its plants")
    parser.add_argument("--fixed", action="store_true", help="the cured program")
    parser.add_argument("--truth", action="store_true", help="the known answer")
    args = parser.parse_args()
    found = [p for p in plants() if args.program in (None, p.program) and args.plant in (None, p.entry["name"])]
    if not found:
        print(
            f"{args.program}/{args.plant} - no such plant in {PROGRAMS} - run `python scripts/plants.py` for the list",
            file=sys.stderr,
        )
        return 2
    if args.plant is None:
        for plant in found:
            print(
                f"{plant.name:44} {plant.entry['class']:28} {plant.entry['symptom']:12} "
                f"{plant.entry.get('first_bad_step')}"
            )
        return 0
    print(
        json.dumps(found[0].truth(), indent=1) if args.truth else found[0].fixed() if args.fixed else found[0].source(),
        end="",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
