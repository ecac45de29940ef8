"""What a dotted name means: `F.softmax` is torch.nn.functional.softmax, whatever the file calls it."""

from __future__ import annotations

import ast

from debugtracer.source.program import Program

HOMES = ("torch.nn.functional.", "torch.special.", "torch.linalg.", "torch.functional.", "torch.")


class Names:
    """The imports of a file."""

    def __init__(self, program: Program) -> None:
        self.known: dict[str, str] = {}
        for node in program.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.known[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    self.known[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    @property
    def torch(self) -> bool:
        """True if the file uses torch."""
        return any(
            meaning == "torch" or meaning.startswith(("torch.", "lightning", "pytorch_lightning"))
            for meaning in self.known.values()
        )

    def meaning(self, node: ast.AST) -> str | None:
        """The full name of an imported thing, None for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.known:
            return None
        return ".".join([self.known[node.id], *reversed(parts)])

    def torch_function(self, node: ast.AST) -> str | None:
        """Return `softmax` for torch.softmax and torch.nn.functional.softmax, None for what is no function of torch."""
        meaning = self.meaning(node)
        if meaning is None or not meaning.startswith("torch."):
            return None
        home = next(h for h in HOMES if meaning.startswith(h))
        rest = meaning.removeprefix(home)
        return rest if "." not in rest and not rest[:1].isupper() else None

    def layer(self, node: ast.AST) -> str | None:
        """Return `ReLU` for torch.nn.ReLU, None for what is no layer of torch."""
        meaning = self.meaning(node)
        rest = meaning.removeprefix("torch.nn.") if meaning is not None and meaning.startswith("torch.nn.") else ""
        rest = rest.rpartition(".")[2]
        return rest if rest[:1].isupper() else None


def method(node: ast.AST) -> str | None:
    """Return `log` for `anything.log(...)`, None for what is no method call."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def dotted(node: ast.AST) -> str | None:
    """Format `self.head` and `x` as text, None for anything longer than names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return None if head is None else f"{head}.{node.attr}"
    return None
