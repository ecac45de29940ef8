"""The page's signs are told apart with any kind of colour vision, in light and dark, and its text is read on its
ground; computed from the colours that stand in the sources."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

SOURCES = Path(__file__).resolve().parents[3] / "page" / "src"
# Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB.
SEEN = {
    "any": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: np.ndarray) -> np.ndarray:
    """Of a colour of 0 to 255 the light."""
    part = np.asarray(colour, float) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(colour: np.ndarray, kind: str) -> np.ndarray:
    """CIE L*a*b* of a colour as an eye of this kind sees it."""
    light = np.clip(np.asarray(SEEN[kind]) @ linear(colour), 0, 1)
    x = TO_XYZ @ light / [0.9505, 1.0, 1.089]
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one: np.ndarray, other: np.ndarray, kind: str) -> float:
    """How far two colours lie from each other, in units of which one is just seen."""
    return float(np.linalg.norm(lab(one, kind) - lab(other, kind)))


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """WCAG's ratio of the lights of text and ground."""
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def coded(text: str) -> np.ndarray:
    """The parts of #rrggbb."""
    return np.array([int(text[n : n + 2], 16) for n in (1, 3, 5)])


def scheme(name: str) -> dict[str, np.ndarray]:
    """The named colours of page.css in light or dark."""
    text = (SOURCES / "page.css").read_text(encoding="utf-8")
    blocks = dict(zip(("light", "dark"), re.findall(r":root[^{]*\{([^}]*--paper[^}]*)\}", text), strict=True))
    return {key: coded(colour) for key, colour in re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[name])}


def stops() -> list[np.ndarray]:
    """The stops of the heat map's ramp."""
    (body,) = re.findall(r"STOPS = (\[\[.*?\]\]);", (SOURCES / "levels.ts").read_text(encoding="utf-8"))
    return [np.array([int(n) for n in part.split(",")]) for part in re.findall(r"\[([\d, ]+)\]", body)]


@pytest.mark.parametrize("kind", SEEN)
@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_signs_are_told_apart(name: str, kind: str) -> None:
    colours = scheme(name)
    # a bad run and a good one; two lines of one plot; what a module of the model has made so far
    for one, other in (("bad", "good"), ("accent", "warn"), *combinations(("idle", "fine", "inf", "nan"), 2)):
        assert apart(colours[one], colours[other], kind) > 14, (one, other)


def test_marks_that_share_a_colour_have_shapes_of_their_own() -> None:
    """Errors and warnings are too much alike to some eyes; a crash and an incident have one colour."""
    (signs,) = re.findall(r"SIGNS: [^=]*= (\{.*?\});", (SOURCES / "Timeline.svelte").read_text(encoding="utf-8"))
    shapes = dict(re.findall(r'(\w+): "(.)"', signs))
    assert set(shapes) == {"incident", "crash", "error", "warning", "action", "note"}
    assert len(set(shapes.values())) == len(shapes)


@pytest.mark.parametrize("kind", SEEN)
def test_what_is_not_finite_stands_out_of_a_heat_map(kind: str) -> None:
    ramp = stops()
    assert len(ramp) == 10
    red = re.search(
        r"RED = \(\(255 << 24\) \| \((\d+) << 16\) \| \((\d+) << 8\) \| (\d+)\)", (SOURCES / "levels.ts").read_text()
    )
    assert red is not None
    bad = np.array([int(red[3]), int(red[2]), int(red[1])])
    assert min(apart(bad, stop, kind) for stop in ramp) > 15


@pytest.mark.parametrize("name", ["light", "dark"])
def test_every_text_is_read_on_its_ground(name: str) -> None:
    colours = scheme(name)
    for text in ("ink", "soft", "faint", "bad", "warn", "good", "accent", "keyword", "string", "number", "comment"):
        for ground in ("card", "paper", "shade"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for sign in ("bad", "warn", "good", "accent"):
        assert contrast(colours[sign], colours[f"{sign}-soft"]) >= 4.5, sign
    for state in ("idle", "fine", "inf", "nan"):
        assert contrast(colours[f"{state}-ink"], colours[state]) >= 4.5, state
