"""Every planted fault is whole: script, healthy twin, truth; nothing in a script gives the answer away, and the twin
differs in few lines."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import io
import json
import sys
import tokenize
from pathlib import Path
from typing import Any

from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
FAULTS = sorted(f for f in (ROOT / "faults").glob("*/*/") if f.parent.name != "programs")
FIELDS = [
    "class",
    "layer",
    "symptom",
    "first_bad_step",
    "module",
    "op",
    "line",
    "sample_index",
    "batch_rows",
    "param",
    "rank",
    "cause",
    "fix",
    "source",
    "verified",
]
LAYERS = {"data", "model", "optimizer", "device", "numerics", "logging", "rollback"}
SYMPTOMS = {"nan_loss", "inf_grad", "nan_output", "loss_spike", "no_learning", "silent", "crash", "none"}
TELLING = ("nan", "inf", "fault", "bug", "wrong", "bad", "planted", "broken", "culprit")


def truth(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "truth.json").read_text())
    return found


def score_module() -> Any:
    spec = importlib.util.spec_from_file_location("score", ROOT / "scripts" / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["score"] = module
    spec.loader.exec_module(module)
    return module


def prose(source: str) -> list[str]:
    """The words of comments and docstrings."""
    comments = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    strings = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
    return " ".join([*comments, *strings]).lower().replace(".", " ").replace(",", " ").split()


def test_the_four_bugs_of_peers_are_planted() -> None:
    want = {
        "masked_attention": "aten::_softmax",
        "fp16_scores": "aten::bmm",
        "log0_entropy": "aten::mul",
        "sqrt0_norm": "aten::sqrt",
    }
    for slug, op in want.items():
        found = truth(ROOT / "faults" / "numerics" / slug)
        assert (found["first_bad_step"], found["batch_rows"], found["op"]) == (5, [3], op)


@each("folder", FAULTS, of=lambda folder: folder.name)
def test_the_folder_is_whole(folder: Path) -> None:
    assert {"train.py", "healthy.py", "truth.json"} <= {item.name for item in folder.iterdir()}
    found = truth(folder)
    assert [name for name in FIELDS if name not in found] == []
    assert found["layer"] == folder.parent.name
    assert found["layer"] in LAYERS
    assert found["symptom"] in SYMPTOMS
    assert isinstance(found["first_bad_step"], int)
    assert all(found[name] for name in ("cause", "fix", "source", "verified"))


@each("folder", FAULTS, of=lambda folder: folder.name)
def test_the_named_lines_hold_code(folder: Path) -> None:
    found, lines = truth(folder), (folder / "train.py").read_text().splitlines()
    for number in [
        found["line"],
        *found.get("accept_lines", []),
        *([found["symptom_line"]] if "symptom_line" in found else []),
    ]:
        assert lines[number - 1].strip()
        assert not lines[number - 1].strip().startswith("#")


@each("folder", FAULTS, of=lambda folder: folder.name)
def test_no_word_gives_the_answer_away(folder: Path) -> None:
    for name in ("train.py", "healthy.py"):
        words = prose((folder / name).read_text())
        assert [word for word in words if word in TELLING] == []
        assert truth(folder)["class"] not in words


@each("folder", FAULTS, of=lambda folder: folder.name)
def test_the_twin_is_the_same_script_but_for_the_fault(folder: Path) -> None:
    train, healthy = ((folder / name).read_text().splitlines() for name in ("train.py", "healthy.py"))
    changed = [
        line
        for line in difflib.unified_diff(train, healthy, lineterm="", n=0)
        if line[0] in "+-" and line[:3] not in {"+++", "---"}
    ]
    assert 1 <= len(changed) <= 6


def test_the_table_of_the_readme_is_fresh() -> None:
    text = (ROOT / "faults" / "README.md").read_text()
    assert score_module().catalogue() in text, "run `python scripts/score.py --list`"
