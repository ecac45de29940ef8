"""The endpoint over its socket: metrics for whoever is here, a word to the run for whoever has the token."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from debugtracer.telemetry import endpoint as module
from debugtracer.telemetry.endpoint import Endpoint
from debugtracer.telemetry.run_reader import RunReader
from tests.extras import needs
from tests.telemetry.runs import LiveRun

TOKEN = {"Authorization": "Bearer the-token"}


@pytest.fixture
def live(tmp_path: Path) -> LiveRun:
    needs("prometheus_client")
    return LiveRun(tmp_path)


@pytest.fixture
def there(live: LiveRun) -> Iterator[Endpoint]:
    """An endpoint of a run in mode prod that trains."""
    endpoint = Endpoint(live.path, "127.0.0.1", 0, "the-token")
    live.train(3)
    endpoint.take(RunReader(live.path).read())
    endpoint.start()
    yield endpoint
    endpoint.end()


def ask(there: Endpoint, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", there.server_port, timeout=5)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def firing(word: str, mark: str = "f") -> bytes:
    """What Alertmanager posts, in part."""
    alert = {"status": "firing", "labels": {"alertname": "A", "debug_tracer_response": word}, "fingerprint": mark}
    alert |= {"startsAt": "2026-01-01T00:00:00Z", "generatorURL": "http://x"}  # type: ignore[dict-item]
    return json.dumps({"version": "4", "groupKey": "{}", "alerts": [alert]}).encode()


def test_metrics_rules_and_dashboard_are_given_out(there: Endpoint) -> None:
    status, text = ask(there, "GET", "/metrics")
    assert status == 200 and 'debugtracer_steps_total{rank="0",run="live"} 3.0' in text
    assert "alert: TrainingIncident" in ask(there, "GET", "/rules.yml")[1]
    assert json.loads(ask(there, "GET", "/dashboard.json")[1])["uid"] == "debug-tracer"
    assert ask(there, "GET", "/../run.json")[0] == 404 and ask(there, "PUT", "/metrics")[0] == 501


def test_a_page_elsewhere_whose_name_leads_here_gets_nothing(there: Endpoint) -> None:
    assert ask(there, "GET", "/metrics", Host="evil.example")[0] == 421
    assert ask(there, "POST", "/alert", firing("stop"), Host="evil.example", **TOKEN)[0] == 421


def test_an_alert_writes_its_word_once(there: Endpoint, live: LiveRun) -> None:
    control = live.path / "control"
    status, text = ask(there, "POST", "/alert", firing("pause"), **TOKEN)
    assert (status, control.read_text()) == (200, "pause\n") and "pause was written into" in text
    control.unlink()
    assert "nothing to do" in ask(there, "POST", "/alert", firing("pause"), **TOKEN)[1] and not control.exists()
    assert ask(there, "POST", "/alert", firing("stop", "g"), **TOKEN)[0] == 200 and control.read_text() == "stop\n"


@pytest.mark.parametrize("later", ["pause", "resume"])
def test_a_stop_that_waits_is_not_taken_back_by_a_later_alert(there: Endpoint, live: LiveRun, later: str) -> None:
    control = live.path / "control"
    assert ask(there, "POST", "/alert", firing("stop"), **TOKEN)[0] == 200
    status, text = ask(there, "POST", "/alert", firing(later, "g"), **TOKEN)
    assert (status, control.read_text()) == (200, "stop\n")
    assert f"{later} was not written: a stop waits in" in text


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({}, firing("stop"), 401),
        ({"Authorization": "Bearer wrong"}, firing("stop"), 401),
        ({"Authorization": "Basic the-token"}, firing("stop"), 401),
        (TOKEN, firing("explode"), 409),
        (TOKEN, b"{", 400),
        (TOKEN, b"[" * 100_000, 400),
        (TOKEN, b'{"alerts": [{"labels": 3}]}', 400),
        (TOKEN, b"\xff", 400),
        (TOKEN | {"Content-Length": "99999999999"}, b"", 413),
        (TOKEN | {"Content-Length": "-1"}, b"", 413),
        (TOKEN, b"{}", 200),
    ],
)
def test_what_is_no_alert_writes_nothing(
    there: Endpoint, live: LiveRun, headers: dict[str, str], body: bytes, status: int
) -> None:
    assert ask(there, "POST", "/alert", body, **headers)[0] == status
    assert not (live.path / "control").exists()


def test_without_a_token_no_alert_is_taken_and_before_a_look_none_is_decided(live: LiveRun) -> None:
    for token, status in (("", 403), ("the-token", 503)):
        endpoint = Endpoint(live.path, "127.0.0.1", 0, token)
        endpoint.start()
        assert ask(endpoint, "POST", "/alert", firing("stop"), **TOKEN)[0] == status
        endpoint.end()


def test_clients_that_say_nothing_leave_room_in_the_end(there: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.Request, "timeout", 0.3)
    silent = [socket.create_connection(("127.0.0.1", there.server_port)) for _ in range(40)]
    end = time.monotonic() + 10
    while True:
        try:
            assert ask(there, "GET", "/metrics")[0] == 200
            break
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.1)
    for one in silent:
        one.close()


def test_its_address(live: LiveRun, capfd: pytest.CaptureFixture[str]) -> None:
    near, far = Endpoint(live.path, "127.0.0.1", 0, ""), Endpoint(live.path, "0.0.0.0", 0, "")
    near.start()
    far.start()
    assert capfd.readouterr().err.splitlines() == [
        f"debug-tracer: metrics at http://127.0.0.1:{near.server_port}/metrics",
        f"debug-tracer: metrics at http://0.0.0.0:{far.server_port}/metrics; other machines can read it",
    ]
    near.end()
    far.end()
