"""Snippets as the scanner reads them, and as torch executes them."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

from debugtracer.source.pattern import patterns
from debugtracer.source.program import parse
from debugtracer.source.source import Source
from debugtracer.source.value import Value

HEAD = "import math, torch, numpy as np; from torch import nn; import torch.nn.functional as F\n"


def read(text: str, head: str = HEAD) -> Source:
    """A snippet below the usual imports (one line)."""
    program = parse(Path("snippet.py"), (head + textwrap.dedent(text).strip("\n") + "\n").encode())
    assert program is not None, "the snippet is no Python"
    return Source(program)


def lines(slug: str, text: str) -> list[int]:
    """The lines of a snippet that a pattern hits, the first being 1."""
    return sorted(hit.line - 1 for hit in patterns()[slug].find(read(text)))


def messages(slug: str, text: str) -> list[str]:
    """What the pattern says."""
    return [hit.message for hit in patterns()[slug].find(read(text))]


def severities(slug: str, text: str) -> list[str]:
    """How severe it finds its hits."""
    return [hit.severity for hit in patterns()[slug].find(read(text))]


def last_value(text: str) -> Value:
    """What is known of the last expression of a snippet, wherever it stands."""
    source = read(text)
    expressions = [node.value for node in source.program.nodes if isinstance(node, ast.Expr)]
    return source.value(expressions[-1])


def executed(text: str) -> dict[str, Any]:
    """The names of a snippet after torch has executed it."""
    names: dict[str, Any] = {}
    exec(HEAD + textwrap.dedent(text), names)
    return names
