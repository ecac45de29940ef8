"""Makes the short animation of the page in the README from a real run, by default that of the demo:
`python scripts/page_animation.py [RUN]`. Needs playwright, chromium and pillow."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from debugtracer.errors import TraceError
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.html import Html

ROOT = Path(__file__).resolve().parent.parent
ANIMATION = ROOT / "docs" / "images" / "page.webp"
WINDOW = {"width": 1200, "height": 780}
SIZE = (900, 585)
MOST_BYTES = 1_000_000  # what a reader of the README waits for (ours)
READ_MS, STEP_MS, OP_MS, BIRTH_MS, LOOK_MS = 3600, 160, 130, 2600, 1200  # how long a picture stands
STEPS, OPS = 14, 18  # pictures of the scrub and of the walk to the birth
ONWARD = 9  # pictures behind the birth, twelve operators apart

Shot = tuple[bytes, int]
"""A picture as PNG, and the milliseconds for which it stands."""


def shots(page: Any, address: str) -> Iterator[Shot]:
    """Yield the story in its order: the loss goes bad, the verdict with its line, the operators up to the birth, the
    sample beside healthy ones, what to do."""
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    bar = page.locator("#timeline input[type=range]")
    here = int(bar.input_value())
    show(page, "#timeline")
    for n in range(STEPS + 1):
        bar.fill(str(round(here * n / STEPS)))
        page.evaluate("document.activeElement.blur()")  # without the ring of the keyboard's focus
        page.wait_for_timeout(80)
        yield page.screenshot(), STEP_MS
    yield page.screenshot(), LOOK_MS
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(300)
    yield page.screenshot(), READ_MS
    if page.locator("#ops .list").count():
        yield from walk(page)
    for part in ("#verdict .card:has(tr.guilty)", "#verdict .why", "#verdict .card.do"):
        if page.locator(part).count():
            show(page, part)
            yield page.screenshot(), BIRTH_MS


def show(page: Any, part: str) -> None:
    """Scroll to a part, below the bar that stands on top of the page."""
    page.locator(part).first.evaluate("it => scrollTo(0, it.getBoundingClientRect().top + scrollY - 70)")
    page.wait_for_timeout(300)


def walk(page: Any) -> Iterator[Shot]:
    """Yield the operators before the birth, at which the page opens, one by one; the birth; what became of it."""
    show(page, "#ops")
    ops = page.locator("#ops .list")
    ops.focus()
    for _ in range(OPS):
        page.keyboard.press("ArrowUp")
    for _ in range(OPS):
        page.wait_for_timeout(60)
        yield page.screenshot(), OP_MS
        page.keyboard.press("ArrowDown")
    page.wait_for_timeout(300)
    yield page.screenshot(), BIRTH_MS
    for _ in range(ONWARD):
        page.keyboard.press("PageDown")
        page.wait_for_timeout(80)
        yield page.screenshot(), 2 * OP_MS
    yield page.screenshot(), LOOK_MS


def draw(run: Path, place: Path = ANIMATION) -> int:
    """Write the animation; return its size in bytes. Raises TraceError."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    text = Html().render(open_trace(run))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        file = Path(folder) / "report.html"
        file.write_text(text, encoding="utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=WINDOW, locale="en-US", color_scheme="light")
        taken = list(shots(page, file.as_uri()))
        browser.close()
    frames = [Image.open(io.BytesIO(png)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS) for png, _ in taken]
    held = [stands for _, stands in taken]
    place.parent.mkdir(parents=True, exist_ok=True)
    frames[0].save(place, save_all=True, append_images=frames[1:], duration=held, loop=0, quality=72, method=4)
    return place.stat().st_size


def main(arguments: list[str]) -> int:
    """Status 1 and one sentence when there is no run to show, or too much of it."""
    run = Path(arguments[0]) if arguments else ROOT / "debug-tracer-runs" / "demo" / "charlm"
    try:
        size = draw(run)
    except TraceError as error:
        print(f"{error}; `bash scripts/demo.sh` makes the run of the animation")
        return 1
    print(f"{ANIMATION.relative_to(ROOT)}: {size / 1000:.0f} kB")
    return int(size > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
