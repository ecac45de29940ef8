"""The contract of a pattern, and the two-file law."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from debugtracer.source.pattern import Pattern, patterns
from tests.source.reading import read

ROOT = Path(__file__).resolve().parents[2]
ADDED = '''"""A tensor of ones."""
import ast
from dataclasses import dataclass
from debugtracer.source.pattern import Pattern

@dataclass(frozen=True)
class OnesMade(Pattern):
    """torch.ones is called."""

    def find(self, source):
        for call in source.calls("ones"):
            yield self.hit(source, call.node, "ones", "none", "nothing")
'''
USES = """
from pathlib import Path
from debugtracer.source.scan import of_text
print([h.pattern for h in of_text(Path("a.py"), b"import torch\\ntorch.ones(3)\\n")])
"""


@pytest.mark.parametrize("pattern", patterns().values(), ids=list(patterns()))
def test_a_pattern_is_named_after_its_file_and_says_why(pattern: Pattern) -> None:
    assert type(pattern).__name__.removesuffix("InSource") == "".join(
        word.capitalize() for word in pattern.slug.split("-")
    )
    assert type(pattern).__doc__ and len(str(type(pattern).__doc__)) > 60
    assert (ROOT / "tests" / "source" / "patterns" / f"test_{pattern.slug.replace('-', '_')}.py").exists()


def test_a_hit_has_the_grammar_of_messages():
    source = read("p = torch.softmax(z, 1)\nloss = p.log()")
    (hit,) = patterns()["log-of-softmax"].find(source)
    assert re.fullmatch(r"snippet\.py:3 - .+ - expected .+ - .+", hit.message) and (
        hit.line,
        hit.severity,
        hit.file,
    ) == (3, "warning", "snippet.py")


def test_one_added_file_is_found_and_hits(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "src" / "debugtracer", tmp_path / "debugtracer", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "debugtracer" / "source" / "patterns" / "ones_made.py").write_text(ADDED)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", USES], capture_output=True, text=True, env=environ, check=False)
    assert done.stdout.strip() == "['ones-made']", done.stderr
