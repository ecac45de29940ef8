"""A real browser for the tests of the page, and a page that is open in it with all that it asked for."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


class Shown:
    """A page that is open, with everything it asked for and complained about."""

    def __init__(self, page: Any, address: str) -> None:
        """Open the address and wait until the page is drawn."""
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)
        page.wait_for_selector("html[data-ready]", timeout=60_000)

    def text(self, selector: str) -> str:
        """The visible text of the first element."""
        return str(self.page.locator(selector).first.inner_text())

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Ask again until it holds, for a minute at most; the page's policy allows no script to ask from inside."""
        end_s = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < end_s
            self.page.wait_for_timeout(50)

    def first_screen(self, selector: str) -> bool:
        """Whether an element lies whole within the window as it opened."""
        box = self.page.locator(selector).first.bounding_box()
        return bool(box) and box["y"] >= 0 and box["y"] + box["height"] <= self.page.viewport_size["height"]

    def fits(self) -> bool:
        """Whether nothing reaches beyond the right edge."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    def grave(self) -> list[str]:
        """What axe finds that is serious or critical: the rule, and the first element that breaks it."""
        try:
            import axe_playwright_python
        except ImportError:
            missing("axe-playwright-python")
        (axe,) = Path(axe_playwright_python.__file__ or "").parent.glob("axe.min.js")
        self.page.evaluate(axe.read_text(encoding="utf-8") + ";0")
        found = self.page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        loud = [one for one in found if one["impact"] in ("serious", "critical")]
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in loud]


def missing(what: str) -> NoReturn:
    """Skip a test of the page; fail in CI."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{what} is not installed: the page is not tried")
    raise AssertionError(what)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser of this machine, for the with block."""
    there = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    if there is None:
        missing("chromium")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=there, args=["--no-sandbox"])
        yield opened
        opened.close()
