"""Which expressions hand on the values of another one (conversions, views, parts, comprehensions) and which make values
of their own."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.written_names import final_name

SAME = frozenset({
    "to", "cpu", "cuda", "pin_memory", "float", "long", "int", "double", "half", "bfloat16", "bool", "type", "type_as",
    "contiguous", "clone", "detach", "view", "reshape", "flatten", "unsqueeze", "squeeze", "permute", "transpose",
    "numpy", "astype", "to_sparse", "to_dense", "expand", "repeat", "copy", "tolist", "items", "values", "todense",
    "toarray",
})  # fmt: skip
"""Methods that hand on the values they are called on."""
READS = frozenset({
    "memmap", "load", "loadtxt", "genfromtxt", "fromfile", "read", "read_csv", "read_parquet", "open", "imread",
    "loads",
})  # fmt: skip
"""Functions that bring values in from a file: the program forms its own after them."""
COPIES = frozenset({
    "tensor", "as_tensor", "from_numpy", "stack", "cat", "concat", "array", "asarray", "FloatTensor", "LongTensor",
    "Tensor", "list", "tuple", "reversed", "sorted", "enumerate", "zip", "iter", "next", "Variable",
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
    cuts = (isinstance(n, (ast.ListComp, ast.GeneratorExp, ast.Slice)) or is_moved(n) for n in ast.walk(value))
    return "formed" if any(cuts) else "handed"


def is_moved(node: ast.AST) -> bool:
    """True for a place that is reckoned from another one: `series[end - 1]`, `rows[i + horizon]`."""
    place = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(place, ast.BinOp) and isinstance(place.op, (ast.Add, ast.Sub))


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
    if isinstance(node, ast.DictComp):
        return entries_of(node)
    if isinstance(node, ast.BinOp):
        return node.left if unpadded(node) is not node else None
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in SAME:
        return node.func.value
    if final_name(node.func) == "map" and len(node.args) == 2 and final_name(node.args[0]) in COPIES:
        return node.args[1]
    return node.args[0] if node.args and final_name(node.func) in COPIES else None


def entries_of(node: ast.DictComp) -> ast.expr | None:
    """What a comprehension takes the values of its dict from where each keeps its key: `{k: torch.tensor(v) for k, v in
    x.items()}`, `{k: torch.stack([row[k] for row in rows]) for k in rows[0]}`. None for any other."""
    loop = node.generators[0]
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
    if len(node.generators) > 1 or not isinstance(first, ast.Name) or ast.unparse(node.key) != first.id:
        return None
    inner, own = carrier(unpadded(node.value)), {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    if not isinstance(inner, ast.Name) or inner.id not in own:
        return inner
    items = loop.iter
    paired = isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute) and items.func.attr == "items"
    return items if paired else None


def copies(node: ast.expr) -> bool:
    """True for an expression that is a copy of a value: `ids.clone()`."""
    return isinstance(node, ast.Call) and final_name(node.func) in ("clone", "copy", "deepcopy")


def unpadded(node: ast.expr) -> ast.expr:
    """What is filled up with a list of one value (`row` of `row + [0] * n`); any other expression itself."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return node
    fill = node.right.left if isinstance(node.right, ast.BinOp) and isinstance(node.right.op, ast.Mult) else None
    return node.left if isinstance(fill, ast.List) and len(fill.elts) == 1 else node
