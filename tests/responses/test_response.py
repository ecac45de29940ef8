"""The folder is the registry of responses, the smallest intrusion first."""

from __future__ import annotations

import pytest

from debugtracer.responses.response import Response, responses


def test_they_come_with_the_smallest_first() -> None:
    assert list(responses()) == ["skip-update", "full-precision", "roll-back", "pause", "stop"]
    assert [response.ends for response in responses().values()] == [False, False, False, False, True]


@pytest.mark.parametrize("slug", list(responses()))
def test_each_is_found_by_the_name_of_its_file(slug: str) -> None:
    response = responses()[slug]
    assert isinstance(response, Response) and response.slug == slug
