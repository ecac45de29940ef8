"""The built page is one file that may load and run nothing else, and nothing of the user's becomes markup in it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from debugtracer.views.page.template import DATA, PLAIN, TITLE, filled, template

BUNDLE_BYTES = 300_000  # today 186 kB; a report of an ordinary run is to stay below 1.5 MB
POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')
HOSTILE = "</script><script>alert(1)</script>\u2028 %DATA% %PLAIN%"


def test_the_policy_allows_this_script_and_this_style_and_nothing_else() -> None:
    text = template()
    found = POLICY.search(text)
    assert found is not None
    (script,) = re.findall(r'<script type="module">(.*)</script>\n', text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in (script, style)]
    assert found[1] == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_each_place_is_there_once_and_the_bundle_is_small() -> None:
    assert [template().count(place) for place in (TITLE, PLAIN, DATA)] == [1, 1, 1]
    assert len(template().encode()) < BUNDLE_BYTES
    assert not re.search(r"""(?:src|href)=["']?(?!data:)(?:https?:)?//""", template())


def test_names_of_the_program_become_neither_markup_nor_the_end_of_the_data() -> None:
    page = filled({"id": HOSTILE, "x": [HOSTILE]}, HOSTILE)
    assert "<script>alert" not in page
    (data,) = re.findall(r'id="data">([^<]*)</script>', page)
    assert json.loads(gzip.decompress(base64.b64decode(data))) == {"id": HOSTILE, "x": [HOSTILE]}
    assert page.count("&lt;script&gt;alert(1)") == 2


# of Machado, Oliveira and Fernandes (2009), at full strength: linear RGB as people see it without one kind of cone
VISIONS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour: tuple[int, ...]) -> list[float]:
    """The red, green and blue light of an sRGB colour."""
    shares = [part / 255 for part in colour]
    return [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in shares]


def brightness(colour: tuple[int, ...], vision: str) -> float:
    """The luminance of a colour for people of that vision."""
    light = linear(colour)
    seen = [sum(share * part for share, part in zip(row, light, strict=True)) for row in VISIONS[vision]]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), seen, strict=True))


@pytest.mark.parametrize("vision", VISIONS)
def test_the_heat_map_is_read_with_any_colour_vision(vision: str) -> None:
    """Its colours grow brighter from the least value to the greatest, whatever cones are missing."""
    source = (Path(__file__).parents[3] / "page" / "src" / "levels.ts").read_text(encoding="utf-8")
    stops = re.findall(r"\[(\d+), (\d+), (\d+)\]", source[source.index("const STOPS") :].splitlines()[0])
    ramp = [brightness((int(red), int(green), int(blue)), vision) for red, green, blue in stops]
    assert len(ramp) == 10
    assert all(high - low > 0.005 for low, high in pairwise(ramp))


@pytest.mark.parametrize("vision", VISIONS)
def test_the_words_of_good_and_bad_are_legible_with_any_colour_vision(vision: str) -> None:
    """Each tone stands out from its ground, in light and dark; what it says, a sign or a word says too."""
    style = (Path(__file__).parents[3] / "page" / "src" / "page.css").read_text(encoding="utf-8")
    for theme in re.findall(r"--paper:.*?}", style, re.DOTALL):
        tones = {
            name: (int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16))
            for name, code in re.findall(r"--(card|bad|warn|good|accent): #([0-9a-f]{6})", theme)
        }
        ground = brightness(tones.pop("card"), vision)
        for name, tone in tones.items():
            low, high = sorted((ground, brightness(tone, vision)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, name
