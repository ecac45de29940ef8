"""The built page is one file that may load and run nothing else, and nothing of the user's becomes markup in it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re

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
