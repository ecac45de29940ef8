"""What a person without a mouse reaches of the page, and what an address leads to: every control by its key, every
panel by its link, and no address leads to a blank page."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from debugtracer.trace.store.reader import open_trace
from debugtracer.views.html import Html
from tests.browser import PHONE, WIDE, Shown, chromium
from tests.forked import Programs

FAULT = Path(__file__).resolve().parents[2] / "faults" / "numerics" / "masked_attention" / "train.py"
PANELS = ("verdict", "timeline", "layers", "model", "ops", "findings", "checks", "usage")
Open = Callable[..., Shown]

# What can have the focus, in the order of the document; `data-stop` tells the places apart.
STOPS = """[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
    .filter((e) => !e.disabled && e.checkVisibility({visibilityProperty: true}))
    .map((e, n) => (e.dataset.stop = n, n))"""
# Where the focus is, whether it is seen there, and whether the place has a name.
HERE = """(() => { const e = document.activeElement, s = getComputedStyle(e), box = e.getBoundingClientRect();
    return {stop: e.dataset?.stop === undefined ? null : Number(e.dataset.stop), what: e.outerHTML.slice(0, 120),
      ringed: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2,
      inside: box.bottom > 0 && box.top < innerHeight,
      named: Boolean((e.getAttribute('aria-label') ?? e.innerText ?? '').trim() || e.labels?.length)}; })()"""
# What does something when it is clicked, but cannot have the focus: its listener is known by the framework's own mark.
MOUSE_ONLY = """[...document.querySelectorAll('*')].filter((e) => Object.getOwnPropertySymbols(e)
      .some((mark) => mark.description === 'events' && e[mark].click))
    .filter((e) => !e.closest('a[href], button, input, select, summary, [tabindex="0"]'))
    .map((e) => e.tagName.toLowerCase() + (e.getAttribute('class') ? '.' + e.getAttribute('class') : ''))"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, programs: Programs) -> Path:
    """The static page of a real run whose loss became NaN in its fifth step."""
    out = tmp_path_factory.mktemp("reach")
    subprocess.run([*programs.tool, "run", "--out", str(out), str(FAULT)], capture_output=True, check=False)
    page = out / "report.html"
    page.write_text(Html().render(open_trace((out / "latest").resolve())), encoding="utf-8")
    return page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def open_(browser: Any, report: Path) -> Iterator[Open]:
    with ExitStack() as stack:

        def opened(hash_: str = "", size: dict[str, int] = WIDE) -> Shown:
            """Open the page at an address."""
            context = browser.new_context(viewport=size, locale="en-US", reduced_motion="reduce")
            stack.callback(context.close)
            return Shown(context.new_page(), report.as_uri() + hash_)

        yield opened


def test_tab_comes_through_every_control_in_order_and_is_seen_and_named_there(open_: Open) -> None:
    shown = open_()
    stops = shown.page.evaluate(STOPS)
    assert len(stops) > 40
    been, page = [], shown.page
    for _ in stops:
        page.keyboard.press("Tab")
        here = page.evaluate(HERE)
        assert here["stop"] is not None and here["ringed"] and here["named"] and here["inside"], here
        been.append(here["stop"])
    assert been == stops  # no trap, no leap, nothing left out
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(HERE)["stop"] == stops[-2]
    assert shown.complaints == []


def test_nothing_is_for_the_mouse_alone(open_: Open) -> None:
    # the strip of ops is the list of ops over again, and a row of that list is chosen with its arrows
    spared = {"canvas", "div.op"}
    found = {one.split(" ")[0] for one in open_().page.evaluate(MOUSE_ONLY)}
    assert {one.split(".svelte")[0] for one in found} - spared == set()
    assert found  # the mark of the framework is still the one that is looked for


@pytest.mark.sweep
def test_each_panel_is_worked_with_keys(open_: Open) -> None:
    page = (shown := open_()).page
    page.locator("#layers canvas").focus()
    before = page.locator("#layers canvas").get_attribute("aria-label")
    page.keyboard.press("ArrowDown")
    assert page.locator("#layers canvas").get_attribute("aria-label") != before
    lane = page.locator("[data-lane=activation]")
    lane.focus()
    page.keyboard.press("ArrowRight")
    named = shown.text("#layers .read b")
    page.keyboard.press("ArrowRight")
    assert shown.text("#layers .read b") != named
    page.locator("#ops .list").focus()
    page.keyboard.press("Home")
    first = shown.text("#ops [data-op] .head code")
    page.keyboard.press("End")
    shown.wait_until(lambda: page.evaluate("location.hash").startswith("#5/ops/"))
    assert first and page.locator("#ops .op.on").get_attribute("aria-selected") == "true"
    page.locator("#timeline input[type=range]").focus()
    page.keyboard.press("ArrowLeft")
    shown.wait_until(lambda: page.evaluate("location.hash").startswith("#4/"))
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause").first.wait_for()
    assert shown.complaints == []


@pytest.mark.sweep
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_link_leads_to_its_step_and_panel_and_is_kept(open_: Open, size: dict[str, int]) -> None:
    for panel in PANELS:
        shown = open_(f"#3/{panel}", size)
        page = shown.page
        assert shown.text("output b") == "step 3"
        page.wait_for_timeout(200)
        assert page.evaluate("location.hash").startswith(f"#3/{panel}")
        box = page.locator(f"#{panel}").bounding_box()
        assert 0 <= box["y"] < size["height"] / 2 or page.evaluate(
            "scrollY + innerHeight >= document.body.scrollHeight - 2"
        )
        assert (shown.complaints, shown.fits()) == ([], True)


def test_a_link_that_is_followed_in_the_open_page_moves_it(open_: Open) -> None:
    shown = open_("#3/verdict")
    shown.page.evaluate("location.hash = '#5/ops/33'; 0")
    shown.wait_until(lambda: shown.text("#ops [data-op]").startswith("aten::_softmax"))
    assert shown.text("output b") == "step 5"
    box = shown.page.locator("#ops").bounding_box()
    shown.wait_until(lambda: shown.page.locator("#ops").bounding_box()["y"] < WIDE["height"])
    assert box and shown.complaints == []


@pytest.mark.parametrize(
    "hash_",
    [
        "#999999999999/ops/999999999",
        "#3/nowhere/<script>",
        "#3/ops/%F0%9F",
        *(pytest.param(one, marks=pytest.mark.sweep) for one in ("#-1/layers", "#%00/ops", "#1e9", "#", "#//")),
    ],
)
def test_an_address_that_means_nothing_shows_the_run(open_: Open, hash_: str) -> None:
    shown = open_(hash_)
    assert shown.text("[data-fact=op]") == "aten::_softmax"
    assert shown.text("output b") in {"step 3", "step 5"}  # its step where there is one, else the last or the bad one
    assert len(shown.text("#ops [data-op]")) > 10
    shown.page.keyboard.press("ArrowLeft")
    assert shown.complaints == []
