"""Docstrings of functions are sentences in one mood: what it does, returns, or when it is called."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.each import each

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "debugtracer"
FILES = sorted(PACKAGE.rglob("*.py"))
LEAST_WORDS, LEAST_NEWS = 4, 2
IMPERATIVES = """
Add Align Allocate Answer Append Apply Ask Attach Begin Bind Bound Bring Build Bypass Call Cancel Cast Chain Check
Choose Classify Clear Clip Clone Close Collect Compare Compute Concatenate Conclude Connect Construct Convert Copy
Count Cut Decide Decode Decorate Delete Dereference Derive Describe Detach Disable Divide Do Drop Emit Empty Enable
Encode End Enter Escape Estimate Evaluate Exchange Execute Expand Explain Extend Extract Fetch Filter Find Fit Flatten
Flush Follow Forget Format Forward Free Gather Give Group Hand Handle Hash Have Hide Identify Import Initialise Insert
Install Invert Investigate Iterate Join Judge Keep Label Learn Leave Let List Listen Load Lock Log Look Lower Make Map
Mark Measure Merge Move Multiply Name Narrow Normalise Note Open Order Overwrite Pad Pair Parse Patch Pause Pick Pin
Plan Post Predict Prepare Preserve Print Publish Push Put Quote Raise Rank Read Recast Recognise Record Reduce Refuse
Register Release Remember Remove Rename Render Repair Repeat Replace Replay Report Request Require Reset Resolve
Restart Restore Resume Retry Return Rewind Round Run Say Scale Scan Schedule Seal Search Seed Select Send Set Share
Shift Show Sign Silence Skip Sort Split Start Stop Store Strip Subtract Sum Summarise Suspect Switch Take Tell Test
Thin Truncate Try Unlink Unscale Unwrap Update Use Validate Verify Visit Wait Walk Warn Watch Weaken Weigh Wrap Write
Yield Zero
"""
"""The mood of the house. A docstring that needs another verb adds it here; `Returns` and `Gets` stay out."""
NOUN_PHRASES = frozenset({"The", "A", "An", "Every", "What", "Which", "How", "Where", "Why"})
"""First words of a docstring that names the value a function returns."""
TRUTHS = frozenset({"True", "False", "Whether"})
"""First words of a docstring that says when a condition holds."""
SAYS_NOTHING = """
a also an and are as at be been but by did do does down for from had has have here how if in into is it its may might
must no none not of off on one only or out over per so some than that the their them then there they this those to
true false up was were what when where whether which who will with
"""
VERBS, EMPTY = frozenset(IMPERATIVES.split()), frozenset(SAYS_NOTHING.split())
Function = ast.FunctionDef | ast.AsyncFunctionDef


def returned(function: Function) -> str:
    return "None" if function.returns is None else ast.unparse(function.returns)


def news(function: Function, text: str) -> list[str]:
    """Words of the text that neither are empty nor stand in the name of the function already."""
    named = set(re.findall(r"[a-z]+", function.name.lower()))
    return [word for word in re.findall(r"[a-z_][a-z_0-9']*", text.lower()) if word not in EMPTY | named]


def fault(function: Function) -> str:
    """What is wrong with the first paragraph of a docstring, "" if nothing is."""
    text = " ".join((ast.get_docstring(function) or "").split("\n\n")[0].split())
    first, second = [word.strip(",.:;") for word in [*text.split(), "", ""][:2]]
    if len(re.findall(r"[\w`']+", text)) < LEAST_WORDS:
        return f"fewer than {LEAST_WORDS} words"
    if len(news(function, text)) < LEAST_NEWS:
        return "it repeats the name"
    if first == "Called" or (first in VERBS and second not in ("of", "is", "are")):  # `Copy of` and `Run of` are nouns
        return ""
    kind = returned(function)
    if kind in ("None", "NoReturn"):
        return f"begins with {first!r}: it returns nothing, so say what it does (imperative) or when it is called"
    if first in TRUTHS:
        return "" if "bool" in kind else f"begins with {first!r} and returns no bool"
    if kind == "bool":
        return f"begins with {first!r}: a bool says when it is true"
    return "" if first in NOUN_PHRASES else f"begins with {first!r}: neither an imperative nor a noun phrase"


def documented(tree: ast.AST) -> list[Function]:
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [function for function in functions if ast.get_docstring(function) is not None]


@each("path", FILES, of=lambda path: path.relative_to(PACKAGE))
def test_function_docstrings_are_sentences(path: Path) -> None:
    found = {
        f"{function.name}, line {function.lineno}": fault(function)
        for function in documented(ast.parse(path.read_text()))
    }
    assert {where: why for where, why in found.items() if why} == {}


def test_the_package_has_them() -> None:
    assert sum(len(documented(ast.parse(path.read_text()))) for path in FILES) > 2500


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        ("def row(self) -> SeedRow", "With its risk."),
        ("def changed(line) -> str", "One edit. Raises NotUnderstood."),
        ("def remove(self) -> None", "Everything as it was."),
        ("def remove(self) -> None", "Remove it and then remove it."),
        ("def close(self) -> None", "The file is closed by this."),
        ("def copy(tensor) -> Tensor", "Copy of the tensor on the host."),
        ("def is_whole(node) -> bool", "A literal number without a fraction."),
        ("def name(self) -> str", "True when the name is known to torch."),
        ("def read(path) -> str", "Reads the text of a file."),
        ("def judge(self, window) -> Iterator", "Once per loader and severity of finding."),
    ],
)
def test_a_fragment_is_refused(signature: str, text: str) -> None:
    function = ast.parse(f'{signature}:\n    """{text}"""').body[0]
    assert isinstance(function, ast.FunctionDef)
    assert fault(function)


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        ("def row(self) -> SeedRow", "Build the row of one generator, with its risk."),
        ("def names(self) -> list[str]", "The parameters in the order of the optimizer."),
        ("def fetched(self, batch) -> None", "Called when a loader has handed out a batch."),
        ("def is_whole(node) -> bool", "True for a literal number without a fraction."),
    ],
)
def test_a_sentence_is_taken(signature: str, text: str) -> None:
    function = ast.parse(f'{signature}:\n    """{text}"""').body[0]
    assert isinstance(function, ast.FunctionDef)
    assert fault(function) == ""
