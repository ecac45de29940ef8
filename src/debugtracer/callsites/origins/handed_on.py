"""Which expressions hand on the values of another one (conversions, views, parts, comprehensions) and which make values
of their own."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.written_names import final_name

SAME = frozenset({
    "to", "cpu", "cuda", "pin_memory", "float", "long", "int", "double", "half", "bfloat16", "bool", "type", "type_as",
    "contiguous", "clone", "detach", "view", "reshape", "flatten", "unsqueeze", "squeeze", "permute", "transpose",
    "numpy", "astype", "to_sparse", "to_dense", "expand", "repeat", "copy", "tolist", "items", "values",
})  # fmt: skip
"""Methods that hand on the values they are called on."""
READS = frozenset({
    "memmap", "load", "loadtxt", "genfromtxt", "fromfile", "read", "read_csv", "read_parquet", "open", "imread",
    "loads",
})  # fmt: skip
"""Functions that bring values in from a file: the program forms its own after them."""
COPIES = frozenset({
    "tensor", "as_tensor", "from_numpy", "stack", "cat", "concat", "array", "asarray", "FloatTensor", "LongTensor",
    "Tensor", "list", "tuple", "reversed", "sorted", "enumerate", "zip", "iter", "next",
})  # fmt: skip
"""Functions that hand on the values of their first argument."""


def kind_of(value: ast.expr | None) -> str:
    """What an assignment of this expression does to the values it takes."""
    if value is None:
        return "made"
    inner = carrier(value)
    if isinstance(inner, ast.Call) and final_name(inner.func) in READS:
        return "read"
    if not isinstance(inner, (ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict)):
        return "made"
    return (
        "formed"
        if any(isinstance(n, (ast.ListComp, ast.GeneratorExp, ast.Slice)) for n in ast.walk(value))
        else "handed"
    )


def carrier(node: ast.expr) -> ast.expr:
    """The expression whose values these are: conversions, views, parts and comprehensions are taken off."""
    while True:
        inner = handed_on(node)
        if inner is None:
            return node
        node = inner


def handed_on(node: ast.expr) -> ast.expr | None:
    """What a conversion, a view or a part takes its values from; None for anything that makes values of its own."""
    if isinstance(node, (ast.Subscript, ast.Starred, ast.Await)):
        return node.value
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        inner = carrier(unpadded(node.elt))
        return node.generators[0].iter if isinstance(inner, ast.Name) and inner.id in own else inner
    if isinstance(node, ast.BinOp):
        return node.left if unpadded(node) is not node else None
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in SAME:
        return node.func.value
    return node.args[0] if node.args and final_name(node.func) in COPIES else None


def copies(node: ast.expr) -> bool:
    """True for an expression that is a copy of a value: `ids.clone()`."""
    return isinstance(node, ast.Call) and final_name(node.func) in ("clone", "copy", "deepcopy")


def unpadded(node: ast.expr) -> ast.expr:
    """What is filled up with a list of one value (`row` of `row + [0] * n`); any other expression itself."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return node
    fill = node.right.left if isinstance(node.right, ast.BinOp) and isinstance(node.right.op, ast.Mult) else None
    return node.left if isinstance(fill, ast.List) and len(fill.elts) == 1 else node
