"""Where the mask of an attention was made: the one that the call is given, else the one its scores were filled by."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.nonfinite_origin import backwards
from debugtracer.callsites.origins.value_origin import Link, Use, argument_of, chain, is_own, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame

ATTENTIONS = ("scaled_dot_product_attention", "MultiheadAttention")
FILLS = ("masked_fill", "masked_fill_", "where")
ORDERED = ("tril", "triu", "tril_", "triu_", "generate_square_subsequent_mask")
"""Functions that tell earlier positions from later ones."""
DIAGONALS = {"tril": 0, "triu": 1}
"""The diagonal of each in a causal mask; beyond it a position sees the next ones."""


def mask_made(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """The lines that made the mask of the attention on the innermost of these lines; none where it has no mask, or one
    that cannot be followed."""
    links = argument_origin(stack[:1], ATTENTIONS, "attn_mask", 3)
    way = [link for link in links if link.frame.line != stack[0].line]
    return computed(way) or computed(filled(stack)) or asked(stack)


def computed(way: Sequence[Link]) -> tuple[Frame, ...]:
    """The lines from the one that sets another diagonal than that of a causal mask, else from the first that computes,
    to the one that wrote last."""
    made = next((place for place, link in enumerate(way) if link.kind == "made"), None)
    if made is None:
        return ()
    lines = tuple(link.frame for link in way[made::-1])
    shifted = next((line for link in backwards(way) if (line := shifted_at(link)) is not None), None)
    return lines if shifted is None else (shifted, *(line for line in lines if line.line != shifted.line))


def shifted_at(link: Link) -> Frame | None:
    """The line of a diagonal that no causal mask has: `tril` keeps what lies on it and below, `triu` cuts off what lies
    from the first above it on."""
    use = link.value
    for node in ast.walk(use.node) if use is not None else ():
        usual = DIAGONALS.get(final_name(node.func).rstrip("_")) if isinstance(node, ast.Call) else None
        if usual is None or use is None or not isinstance(node, ast.Call):
            continue
        of_torch = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) in ("torch", "np", "numpy")
        given = argument_of(node, "diagonal", 1 if of_torch else 0) or argument_of(node, "k", -1)
        try:
            number = ast.literal_eval(given) if given is not None else 0
        except ValueError:
            continue
        if isinstance(number, int) and number > usual:
            return use.frame(given or node)
    return None


def filled(stack: Sequence[Frame]) -> tuple[Link, ...]:
    """The lines that made the mask of the last fill before the line, where order of positions is in it: a mask of the
    padding alone is right, and another one missing."""
    return next((links for links in masks(stack) if any(orders(link) for link in backwards(links))), ())


def masks(stack: Sequence[Frame]) -> Iterator[tuple[Link, ...]]:
    """Yield the lines that made each name in the masks of the fills before the line in its function, the last fill
    first."""
    program = program_of(stack[0].file) if stack else None
    scope = scope_at(program, stack[0].line) if program is not None else None
    if program is None or scope is None:
        return
    fills = [
        n
        for n in ast.walk(scope)
        if isinstance(n, ast.Call) and final_name(n.func) in FILLS and n.args and n.lineno <= stack[0].line
    ]
    for call in sorted(fills, key=lambda n: n.lineno, reverse=True):
        for node in ast.walk(call.args[0]):
            own = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
            if isinstance(node, ast.expr) and (own or isinstance(node, ast.Name)):
                yield chain(Use(program, scope, node, tuple(stack[1:])), call.lineno)


def asked(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """The line that asks a function of the program for the mask of the last fill, where that is handed in by the
    callers: what the mask lacks belongs there, as the function itself may serve others."""
    for links in masks(stack):
        for link in links:
            use = link.value
            if use is not None and is_own(use.program, use.scope, use.node) and link.frame.line != stack[0].line:
                return (link.frame,)
    return ()


def orders(link: Link) -> bool:
    """Whether a line tells earlier positions from later ones."""
    use = link.value
    return use is not None and any(
        isinstance(n, ast.Call) and final_name(n.func) in ORDERED for n in ast.walk(use.node)
    )
