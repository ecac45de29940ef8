"""Whether any line of the program reads an attribute of a name, and where one is written."""

from __future__ import annotations

import ast
import dis
import re
from types import CodeType

from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.program_files import program_files, with_words
from debugtracer.trace.birth import Frame


def stored_attribute(code: CodeType, offset: int) -> str:
    """The attribute that takes the value which the instruction at an offset gives: `self.scheduler = StepLR(...)`;
    nothing where something else does."""
    behind = [s for s in dis.get_instructions(code) if s.offset > offset and s.opname not in ("CACHE", "EXTENDED_ARG")]
    owner, store = (*behind[:2], None, None)[:2]
    stored = owner is not None and owner.opname.startswith("LOAD_") and store is not None
    return str(store.argval) if stored and store is not None and store.opname == "STORE_ATTR" else ""


def is_attribute_read(name: str) -> bool:
    """Whether a line of the program reads an attribute of this name, whosever it is, or has the name as a string; True
    where that is not known."""
    files = program_files()
    if files is None:
        return True
    for file in with_words(files, re.compile(rf"\b{re.escape(name)}\b")):
        program = program_of(file)
        if program is None or any(reads(node, name) for node in program.nodes):
            return True
    return False


def reads(node: ast.AST, name: str) -> bool:
    """Whether a node reads an attribute, or is its name as a string."""
    if isinstance(node, ast.Attribute):
        return node.attr == name and not isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Constant) and node.value == name


def attribute_written(name: str) -> Frame | None:
    """The only line of the program that writes an attribute of this name; None where none does, or several."""
    found: list[Frame] = []
    for file in with_words(program_files() or [], re.compile(rf"\b{re.escape(name)}\b")):
        program = program_of(file)
        if program is not None:
            written = (n for n in program.every(ast.Attribute) if n.attr == name and isinstance(n.ctx, ast.Store))
            found += [at_line(program, node.lineno) for node in written]
    return found[0] if len(found) == 1 else None
