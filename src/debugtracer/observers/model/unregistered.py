"""Finds where a Parameter hangs that its module has not registered: in a list, a dict or a tuple, or as a plain tensor;
and the line that put it there."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor, nn

from debugtracer.recorder.state.attributes import OWN
from debugtracer.recorder.state.roots import plain_path
from debugtracer.trace.birth import Frame

MOST_ITEMS = 1000  # members of a container looked at (ours)


def hidden(roots: Iterable[nn.Module], wanted: set[int]) -> dict[int, tuple[str, str, int, Frame | None]]:
    """Map a parameter's id to (its path, path of the attribute, modules in that container, line that assigns it)."""
    found: dict[int, tuple[str, str, int, Frame | None]] = {}
    for root in roots:
        for path, module in root.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, Tensor) and id(value) in wanted:
                    owner = plain_path(f"{path}.{name}".strip("."))
                    found[id(value)] = owner, owner, 0, assigned(type(module), name)
                if name in OWN or not isinstance(value, (list, tuple, dict, set)):
                    continue
                held = list(members(value))
                for key, member in held:
                    owner = plain_path(f"{path}.{name}".strip("."))
                    for inner, parameter in parameters(member):
                        if id(parameter) in wanted:
                            found[id(parameter)] = (
                                f"{owner}.{key}.{inner}".rstrip("."),
                                owner,
                                len(held),
                                assigned(type(module), name),
                            )
    return found


def members(container: Any, depth: int = 1) -> Iterator[tuple[str, Any]]:
    """Yield modules and parameters of a container and of the containers in it."""
    items = container.items() if isinstance(container, dict) else enumerate(container)
    for number, (key, value) in enumerate(items):
        if number >= MOST_ITEMS:
            return
        if isinstance(value, (nn.Module, nn.Parameter)):
            yield str(key), value
        elif depth and isinstance(value, (list, tuple, dict)):
            yield from ((f"{key}.{inner}", one) for inner, one in members(value, depth - 1))


def parameters(member: Any) -> Iterator[tuple[str, Tensor]]:
    """The parameters of a module, or a parameter itself."""
    if isinstance(member, nn.Parameter):
        yield "", member
    else:
        yield from member.named_parameters()


def assigned(kind: type, name: str) -> Frame | None:
    """The first line of a class (or of the classes it extends) that assigns `self.name`; None without source."""
    for one in kind.__mro__:
        if one is nn.Module:
            return None
        try:
            lines, first = inspect.getsourcelines(one)
            tree = ast.parse(textwrap.dedent("".join(lines)))
        except (OSError, TypeError, SyntaxError):
            continue
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    targets = (
                        node.targets
                        if isinstance(node, ast.Assign)
                        else [node.target]
                        if isinstance(node, ast.AnnAssign)
                        else []
                    )
                    if any(isinstance(t, ast.Attribute) and t.attr == name for t in targets):
                        line = first + node.lineno - 1  # type: ignore[attr-defined]
                        return Frame(inspect.getsourcefile(one) or "", line, function.name, lines[line - first].strip())
    return None
