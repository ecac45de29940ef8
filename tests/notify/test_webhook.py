"""One notice as JSON, at a real receiver."""

from __future__ import annotations

import urllib.error

import pytest

from debugtracer.errors import UsageError
from debugtracer.notify.notice import Notice
from debugtracer.notify.webhook import Webhook, check_address
from tests.notify.receiver import receiving


def test_it_is_posted_and_a_refusal_is_raised() -> None:
    notice = Notice("error", "stop", "stopped", last=True)
    with receiving() as receiver:
        Webhook(receiver.address).send(notice, 2)
    assert receiver.got == [notice.document(2)]
    with receiving(500) as receiver, pytest.raises(urllib.error.HTTPError):
        Webhook(receiver.address).send(notice, 0)
    assert Webhook("https://example.org/secret").name == "example.org"


@pytest.mark.parametrize("address", ["ftp://a/b", "example.org", "http://", "http://[", "x" * 9000])
def test_an_address_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match=r"^webhook is .{,90}; expected an address"):
        check_address(address, "webhook")
