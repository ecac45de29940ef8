"""The page in the package is the one that its sources make, and all its words are in one place."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "page" / "src"


def test_the_built_page_is_current() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/page_hash.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_word_stands_in_strings_ts_in_both_languages() -> None:
    text = (SOURCES / "strings.ts").read_text(encoding="utf-8")
    english, chinese = text.split("const zh: Words = {")
    known = set(re.findall(r"(?:^|[ {])(\w+): (?:\"|\(|\{|\[)", english.split("const en = {")[1]))
    assert known == set(re.findall(r"(?:^|[ {])(\w+): (?:\"|\(|\{|\[)", chinese.split("};")[0]))
    used = {name for file in SOURCES.glob("*.svelte") for name in re.findall(r"\bt\.(\w+)", file.read_text())}
    assert used <= known
    for file in SOURCES.glob("*.svelte"):
        markup = re.sub(r"<(script|style)\b.*?</\1>", "", file.read_text(), flags=re.DOTALL)
        spoken = re.findall(r">\s*([A-Z][a-z]+(?: [a-z]+)+)\s*<", markup)
        assert spoken == [], f"{file.name}: {spoken} belongs in strings.ts"


def test_no_source_sets_markup_from_data() -> None:
    for file in SOURCES.iterdir():
        assert not re.search(r"\{@html|innerHTML|insertAdjacentHTML|document\.write|eval\(", file.read_text()), (
            file.name
        )
