"""The line of the constant by which a function scales what another line of it reads: `scale = 255.0`, or the division
itself. The source is read, nothing is executed."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import last_write, program_of, scope_at
from debugtracer.trace.birth import Frame


def scale_line(reads: Frame) -> Frame | None:
    """The first product with a number, or division by one, after a line, of something that is none: where the number
    has a name in that function the line that gives it, else its own. None where nothing is scaled."""
    program = program_of(reads.file)
    scope = scope_at(program, reads.line) if program is not None else None
    if program is None or scope is None:
        return None
    scaled = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult)) and node.lineno >= reads.line
    ]
    for node in sorted(scaled, key=lambda n: (n.lineno, n.col_offset)):
        for side, other in ((node.right, node.left), (node.left, node.right)):
            if literal(other) is not None or (side is node.left and isinstance(node.op, ast.Div)):
                continue
            if literal(side) is not None:
                return at_line(program, node.lineno)
            written = last_write(program, scope, side.id, node.lineno) if isinstance(side, ast.Name) else None
            if written is not None and written.value is not None and literal(written.value) is not None:
                return at_line(program, written.node.lineno)
    return None
