"""The page of a cause."""

from __future__ import annotations

import pytest

from debugtracer.causes.cause import causes
from debugtracer.causes.page import find_cause, page_of
from debugtracer.errors import UsageError
from tests.each import each


@each("slug", causes())
def test_every_page_has_a_title_that_is_a_sentence_and_says_what_to_do(slug):
    page = page_of(causes()[slug])
    assert page.title.endswith(".") and len(page.title.split()) >= 3
    assert page.about and page.about != page.title
    assert {"What it is", "What to do", "Proved when this heals the step, narrowest first"} <= set(page.rows)
    # no check of a running program has their class
    of_findings = ("tokenizer-mismatch", "ddp-desync", "lr-zero", "record-unreadable", "value-unfit")
    assert page.looks_like or page.named_by or slug in of_findings


def test_headings_without_lines_are_left_out_and_a_deaf_cause_is_named_by_no_check():
    page = page_of(causes()["uninitialised-memory"])
    assert page.named_by == () and "Checks that name it" not in page.rows
    assert "Speaks against it" not in page.text()
    assert page.looks_like == "The birth is a read of memory that was allocated and not filled."


def test_a_check_that_names_the_class_is_not_said_twice():
    page = page_of(causes()["lr-too-high"])
    assert "optimizer/loss-divergence" in page.named_by and not set(page.named_by) & set(page.supports)


def test_a_cause_is_found_by_its_slug_and_by_its_class_word():
    assert find_cause("zero_norm") is find_cause("zero-norm")
    with pytest.raises(UsageError, match="nearest are zero-norm"):
        find_cause("zeronorm")
