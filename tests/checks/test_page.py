"""The page of a check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import HEADINGS, Check, checks, page
from debugtracer.checks.page import Option, options_of, page_of, split
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.each import each


class Wide(Check, frozen=True):
    """The gap is wide.

    Gap is a - b.

    What it catches
        A gap.
          Indented more.
    Why it matters
        It is wide.
    How it decides
        By looking.
    What to do
        Close it.
    Example
        step 3: wide.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = ("loss", Wiring)
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high",)
    slug = "optimizer/wide"  # type: ignore[assignment]
    z_max: float = 8.0  # robust z, dimensionless (measured)
    steps: int = 3
    """Steps in a row.

    Source: ours.
    """
    # one of a or b;
    # source: ours
    names: tuple[str, ...] = ("a", "b")

    def judge(self, window: Window) -> Iterator[Finding]:
        return iter(())


def test_options_carry_what_is_said_at_their_field():
    assert options_of(Wide(z_max=1e4)) == [
        Option("z_max", "float", "10000", "robust z, dimensionless (measured)"),
        Option("steps", "int", "3", "Steps in a row. Source: ours."),
        Option("names", "tuple[str, ...]", "a, b", "one of a or b; source: ours"),
    ]


def test_a_docstring_is_split_by_its_headings_and_formulae_go_to_the_decision():
    title, sections = split(page(Wide()))
    assert title == "The gap is wide."
    assert sections["What it catches"] == "A gap.\n  Indented more."
    assert sections["How it decides"] == "By looking.\n\nGap is a - b."
    assert tuple(sections) == HEADINGS


def test_the_text_shows_everything_once():
    text = page_of(Wide()).text()
    assert text.startswith(
        "optimizer/wide\n\nThe gap is wide.\n\nWhat it catches\n    A gap.\n      Indented more.\n\nWhy it matters\n"
    )
    assert (
        "\nOptions (--option wide.FIELD=VALUE)\n    z_max = 8  robust z, dimensionless (measured)\n    steps = 3  "
        in text
    )
    assert "\nReads\n    loss\n    wiring/Wiring: " in text
    assert text.endswith("\nSuspects\n    lr-too-high\n")


def test_a_check_without_a_planted_fault_says_why():
    known = checks()
    assert "\nNot proved by a planted fault\n    needs a GPU\n" in page_of(known["device/host-sync"]).text()
    assert "Not proved" not in page_of(known["numerics/nan-loss"]).text()


@each("slug", checks())
def test_every_check_of_the_house_has_a_page_of_five_sections(slug):
    told = page_of(checks()[slug])
    assert tuple(told.sections) == HEADINGS
    assert all(told.sections.values())
    assert told.title.endswith((".", "?"))
    assert [o.name for o in told.options if not o.about] == [], "an option without unit and source"
