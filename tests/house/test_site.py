"""The documentation site builds without a warning, shows every page in both languages, and needs no network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.made_once import made_once

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TRANSLATED = sorted(page.relative_to(DOCS / "zh") for page in (DOCS / "zh").rglob("*.md"))
LOADED = re.compile(r"<(?:script|link|img)\b[^>]*(?:src|href)=\"?(https?:[^\" >]+)")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "site", build)


def build(folder: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr[-3000:]}\nwithout mkdocs: bash scripts/setup.sh demo,test,docs"


def html(page: Path) -> str:
    name = "index" if page.stem in ("README", "index") else page.stem
    return str(page.with_name(f"{name}.html"))


def article(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]


def test_every_page_is_there_in_both_languages(site: Path) -> None:
    pages = {html(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if not page.is_relative_to(DOCS / "zh")}
    assert {page for page in pages if not (site / page).is_file() or not (site / "zh" / page).is_file()} == set()


def test_a_page_that_is_translated_is_shown_in_chinese_and_another_in_english(site: Path) -> None:
    assert TRANSLATED
    for page in map(html, TRANSLATED):
        assert CHINESE.search(article(site / "zh" / page)), page
        assert '<html lang="zh"' in (site / "zh" / page).read_text(encoding="utf-8")
    fallback = "checks/optimizer/loss_spike.html"
    assert "The loss jumps for a few steps and returns." in article(site / "zh" / fallback)


def test_a_link_out_of_the_documentation_leads_to_the_file_it_names(site: Path) -> None:
    page = site / "zh" / "checks" / "optimizer" / "loss_spike.html"
    (source,) = re.findall(r'href="([^"]*/checks/optimizer/loss_spike\.py\.txt)"', article(page))
    assert (page.parent / source).resolve().read_text() == (
        ROOT / "src/debugtracer/checks/optimizer/loss_spike.py"
    ).read_text()


def test_the_search_index_lies_beside_the_pages_and_knows_words_of_both_languages(site: Path) -> None:
    packed = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    entries = json.loads(packed.partition("=")[2].strip().removesuffix(";"))["docs"]
    assert [
        e
        for e in entries
        if e["location"].startswith("checks/optimizer/loss_spike.html") and "learning-rate accident" in e["text"]
    ]
    chinese = [e for e in entries if e["location"].startswith("zh/") and CHINESE.search(e["text"])]
    assert any("\u200b" in e["text"] for e in chinese), "Chinese text is not cut into words: jieba is missing"
    assert not [e for e in entries if e["location"].startswith("zh/checks/optimizer")], (
        "English pages stand in the index twice"
    )


def test_no_page_loads_anything_from_the_network(site: Path) -> None:
    pages = [site / "index.html", site / "zh" / "index.html", site / "checks" / "optimizer" / "loss_spike.html"]
    assert [found for page in pages for found in LOADED.findall(page.read_text(encoding="utf-8"))] == []
