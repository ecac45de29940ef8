"""The folder is the registry of responses, the smallest intrusion first."""

from __future__ import annotations

import pytest

from debugtracer.responses.response import Response, responses


def test_they_come_with_the_smallest_first() -> None:
    steps = [
        "note",
        "skip-update",
        "clip-harder",
        "full-precision",
        "loss-scale",
        "lower-lr",
        "roll-back",
        "fresh-moments",
        "pause",
        "stop",
    ]
    assert list(responses()) == steps
    assert [slug for slug, response in responses().items() if response.ends] == ["stop"]
    chosen = [slug for slug, response in responses().items() if response.chosen_only]
    assert chosen == ["note", "clip-harder", "lower-lr", "fresh-moments"]


@pytest.mark.parametrize("slug", list(responses()))
def test_each_is_found_by_the_name_of_its_file(slug: str) -> None:
    response = responses()[slug]
    assert isinstance(response, Response) and response.slug == slug
