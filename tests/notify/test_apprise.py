"""Apprise tells a real receiver; what it cannot do is said without the addresses, which are secrets."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from debugtracer.commands.app import status
from debugtracer.errors import UsageError
from debugtracer.notify.apprise import AppriseAddresses, check_addresses
from debugtracer.notify.notice import Notice
from debugtracer.notify.notices import notices
from tests.extras import needs
from tests.notify.receiver import receiving

NOTICE = Notice("error", "stop", "step 7, rank 0 - the run was stopped", "runs/a", 7, 0, True)


def addresses(*posted: str) -> str:
    """The addresses of receivers as apprise writes them."""
    return ",".join(address.replace("http://", "json://") for address in posted)


def test_every_address_is_told() -> None:
    needs("apprise")
    with receiving() as one, receiving() as other:
        notices("", addresses(one.address, other.address), "warning").tell(NOTICE)
    for receiver in (one, other):
        (told,) = receiver.got
        assert told["title"] == "debug-tracer: stop" and told["type"] == "failure"
        assert told["message"].split() == [*["step", "7,", "rank", "0", "-", "the", "run", "was", "stopped"], "runs/a"]


def test_one_that_refuses_is_one_line_without_its_secret(capfd: pytest.CaptureFixture[str]) -> None:
    needs("apprise")
    with receiving(500) as receiver:
        told = notices("", addresses(f"{receiver.address}/secret"), "warning")
        told.tell(NOTICE)
        told.tell(NOTICE)
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and "could not be posted to apprise (a service did not take it)" in said
    assert "secret" not in said


@pytest.mark.parametrize("address", ["nothing", "no-such-service://secret", "json://"])
def test_an_address_of_no_service_is_refused(address: str) -> None:
    needs("apprise")
    with pytest.raises(UsageError, match="is of no service that apprise knows") as refused:
        check_addresses(address, "--apprise")
    assert "secret" not in str(refused.value)


def test_without_the_extra_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    monkeypatch.chdir(tmp_path)
    assert status(["run", "--apprise", "json://localhost", "train.py"]) == 2
    told = capfd.readouterr().err
    assert told.count("\n") == 1 and "pip install 'torch-debug-tracer[notify]'" in told
    notices("", "json://localhost", "warning").tell(NOTICE)
    assert "could not be posted to apprise" in capfd.readouterr().err
    assert AppriseAddresses("json://a").name == "apprise"
