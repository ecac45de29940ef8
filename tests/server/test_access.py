"""Only a request that names this server and carries its token may pass."""

from __future__ import annotations

import pytest

from debugtracer.server.access import Access, loopback

HERE = Access("a-token", "127.0.0.1", 7007)


@pytest.mark.parametrize("host", ["127.0.0.1:7007", "localhost:7007", "LOCALHOST:7007", "[::1]:7007"])
def test_the_names_of_this_machine_are_answered_to(host: str) -> None:
    assert HERE.named([host])


@pytest.mark.parametrize(
    "hosts",
    [[], ["evil.example:7007"], ["127.0.0.1:80"], ["127.0.0.1"], ["127.0.0.1:7007", "127.0.0.1:7007"], [":7007"], [""]],
)
def test_any_other_name_is_not(hosts: list[str]) -> None:
    assert not HERE.named(hosts)


def test_an_address_for_others_is_answered_to_under_any_name() -> None:
    assert Access("a-token", "0.0.0.0", 7007).named(["lab-3.example:7007"])


def test_the_cookie_carries_the_token_and_no_script_reads_it() -> None:
    kept = HERE.set_cookie()
    assert HERE.carried([kept.split(";")[0]]) and "HttpOnly" in kept and "SameSite=Lax" in kept
    for wrong in ("", "debug-tracer-7007=a-toke", "debug-tracer-8000=a-token", "debug-tracer-7007=é", ";;=,\x00"):
        assert not HERE.carried([wrong])


@pytest.mark.parametrize(
    ("host", "only"), [("127.0.0.1", True), ("127.0.3.1", True), ("::1", True), ("0.0.0.0", False), ("10.0.0.3", False)]
)
def test_what_is_reached_from_elsewhere_is_known(host: str, only: bool) -> None:
    assert loopback(host) is only
