"""One change of one condition, number or word of a file of ours, where such changes can be made, and which of them
change nothing that can be seen (scripts/equivalent_mutants.json, with the reason of each)."""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))  # a test loads this file by its path
import tests_of

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "debugtracer"
EQUIVALENT = ROOT / "scripts" / "equivalent_mutants.json"
OTHER = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
WORDS = {"confirmed": "likely", "likely": "possible", "error": "warning", "warning": "error", "healed": "not healed"}


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the text from `start` to `stop` (offsets in bytes) becomes `by`."""

    file: str
    """Relative to src/debugtracer."""
    line: int
    what: str
    start: int
    stop: int
    by: str

    def source(self) -> str:
        """The file with the change."""
        text = (SOURCE / self.file).read_bytes()
        return (text[: self.start] + self.by.encode() + text[self.stop :]).decode()

    @property
    def original(self) -> str:
        """The text that is changed."""
        return (SOURCE / self.file).read_bytes()[self.start : self.stop].decode()

    @property
    def equivalent(self) -> str:
        """Why no test can notice it; empty where one can."""
        return equivalents().get((self.file, *self.place, self.by), "")

    @property
    def place(self) -> tuple[str, int]:
        """The line that it begins in, and the column in that: an equivalent one is known by them, as numbers of lines
        move."""
        text = (SOURCE / self.file).read_bytes()
        begin = text.rfind(b"\n", 0, self.start) + 1
        line = text[begin:].split(b"\n", 1)[0].decode()
        return line.strip(), len(text[begin : self.start].decode()) - (len(line) - len(line.lstrip()))

    @property
    def tests(self) -> tuple[Path, ...]:
        """The mirrored test file, and that of the contract where it is a plug-in's."""
        return tests_of.mirrored(self.file)

    @property
    def wider(self) -> tuple[Path, ...]:
        """The other test files that look at the file."""
        return tests_of.wider(self.file)


@cache
def equivalents() -> dict[tuple[str, str, int, str], str]:
    """The reason of each change that changes nothing that can be seen, by file, line, column and new text."""
    known = json.loads(EQUIVALENT.read_text())
    return {(one["file"], one["line"], one["column"], one["by"]): one["why"] for one in known}


class Finder(ast.NodeVisitor):
    """Collects the mutants of one file."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.starts = [0]
        for line in text.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutant] = []

    def add(self, node: ast.expr, by: str, what: str) -> None:
        """Replace the whole of an expression."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        stop = self.starts[node.end_lineno - 1] + node.end_col_offset
        self.found.append(Mutant(self.file, node.lineno, what, start, stop, by))

    def source(self, node: ast.expr) -> str:
        """The text of an expression, in brackets."""
        return f"({ast.get_source_segment(self.text, node)})"

    def visit_Compare(self, node: ast.Compare) -> None:
        """A comparison with the other operator."""
        if len(node.ops) == 1:
            other = OTHER[type(node.ops[0])]
            by = f"{self.source(node.left)} {other} {self.source(node.comparators[0])}"
            self.add(node, f"({by})", f"comparison becomes {other}")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """A condition without one of its parts, and with the other connective."""
        word = " and " if isinstance(node.op, ast.And) else " or "
        parts = [self.source(value) for value in node.values]
        for number in range(len(parts)):
            rest = word.join(parts[:number] + parts[number + 1 :])
            self.add(node, f"({rest})", f"condition without part {number + 1} of {len(parts)}")
        other = " or " if word == " and " else " and "
        self.add(node, f"({other.join(parts)})", f"condition with{other.rstrip()}")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """A condition that is no longer negated."""
        if isinstance(node.op, ast.Not):
            self.add(node, f"bool{self.source(node.operand)}", "negation dropped")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Another truth value, number or word."""
        value = node.value
        if isinstance(value, bool):
            self.add(node, repr(not value), f"{value} becomes {not value}")
        elif isinstance(value, (int, float)):
            changed = value + 1 if isinstance(value, int) else value * 1.5 + 0.5
            self.add(node, repr(changed), f"{value} becomes {changed}")
        elif isinstance(value, str) and value in WORDS:
            self.add(node, repr(WORDS[value]), f"{value} becomes {WORDS[value]}")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """A value alone: annotations hold no condition."""
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Nothing of an annotation."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Nothing of a message: its wording has tests of its own."""
