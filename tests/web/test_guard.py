"""Who is answered: no other host, no other origin, no writing, and no address but loopback without its token."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from moot.errors import USAGE, MootError
from moot.web.guard import Address
from moot.web.server import listen
from tests.web.viewer import SECONDS, Viewer, viewer

PATHS = ("/", "/run/sample", "/run/sample/stream", "/static/style.css", "/nowhere")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""],
)
def test_another_host_is_refused(served: Viewer, path: str, host: str) -> None:
    answer = served.get(path, host=host.format(port=served.port))
    assert answer.status in (400, 421)
    assert "storage" not in answer.body.lower()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_loopback_s_own_names_are_answered(served: Viewer, host: str) -> None:
    assert served.get("/", host=f"{host}:{served.port}").status == 200


@pytest.mark.parametrize("path", PATHS[:4])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_another_origin_is_refused(served: Viewer, path: str, headers: dict[str, str]) -> None:
    assert served.get(path, headers).status == 403


@pytest.mark.parametrize(
    "headers", [{}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}], ids=str
)
def test_its_own_pages_are_answered(served: Viewer, headers: dict[str, str]) -> None:
    own = (
        {"Origin": f"http://127.0.0.1:{served.port}"}
        if headers.get("Sec-Fetch-Site") == "same-origin"
        else {}
    )
    assert served.get("/run/sample", headers | own).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_written(served: Viewer, method: str) -> None:
    assert served.get("/run/sample", method=method).status == 405


@pytest.mark.parametrize("path", [*PATHS[:2], "/run/sample/live", "/static/moot.js", "/nowhere"])
def test_every_answer_has_a_strict_policy(served: Viewer, path: str) -> None:
    headers = served.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/run/..%2f..%2fetc/passwd",
        "/run/%2e%2e",
        "/run/sample/event/..%2f..%2fhead",
        "/run/sample/document/..%2fhead",
        "/run/sample/brief/..%2f..",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "//evil.example/",
        "/run/sample/rounds/99999",
        "/run/sample/rounds/-1",
        "/run/sample/event/@-1",
        "/run/sample/event/@99999999999999999999",
        "/run/sample/event/%00",
        "/run/" + "x" * 5_000,
    ],
)
def test_an_address_leads_nowhere_but_into_a_run(served: Viewer, path: str) -> None:
    answer = served.get(path)
    assert answer.status == 404
    assert "root:" not in answer.body
    assert "import" not in answer.body


def test_a_damaged_run_is_said_to_be_so_and_nothing_of_it_is_shown(served: Viewer) -> None:
    assert "cannot be shown" in served.get("/").body
    answer = served.get("/run/damaged")
    assert answer.status == 409
    assert "Which storage" not in answer.body


def test_other_addresses_need_the_token(runs: Path) -> None:
    with viewer(runs, "--host", "0.0.0.0") as open_to_all:
        assert open_to_all.token is not None
        assert len(open_to_all.token) >= 32
        assert open_to_all.get("/").status == 401
        assert open_to_all.get("/?token=wrong").status == 401
        assert open_to_all.get("/", {"Cookie": "moot_token=wrong"}).status == 401
        assert open_to_all.get("/", host=f"evil.example:{open_to_all.port}").status == 421
        first = open_to_all.get(f"/run/sample?page=2&token={open_to_all.token}")
        assert (first.status, first.headers["location"]) == (303, "/run/sample?page=2")
        cookie = first.headers["set-cookie"]
        assert re.search(r"HttpOnly.*SameSite=strict", cookie, re.IGNORECASE)
        assert open_to_all.get("/", {"Cookie": cookie.partition(";")[0]}).status == 200
        away = open_to_all.get(f"//evil.example/?token={open_to_all.token}")
        assert not away.headers.get("location", "/").startswith("//")


def test_loopback_needs_no_token(served: Viewer) -> None:
    assert served.token is None
    assert served.url == f"http://127.0.0.1:{served.port}/"


@pytest.mark.parametrize("host", ["127.0.0.2", "127.1", "::1", "0:0:0:0:0:0:0:1"])
def test_the_address_that_is_printed_is_answered(runs: Path, host: str) -> None:
    """As a browser does it: with the cookie that the first answer sets, where there is a token."""
    if ":" in host and not Path("/proc/net/if_inet6").is_file():
        pytest.skip("no IPv6 here")
    browser = build_opener(HTTPCookieProcessor())
    with viewer(runs, "--host", host) as listening, browser.open(listening.url, timeout=SECONDS) as page:
        assert page.status == 200


@pytest.mark.parametrize(
    ("host", "name", "is_answered"),
    [
        ("127.0.0.2", "127.0.0.2", True),
        ("127.0.0.2", "localhost", True),
        ("127.0.0.2", "evil.example", False),
        ("127.0.0.1", "192.168.0.7", False),
        ("::1", "[0:0::1]", True),
    ],
)
def test_a_loopback_viewer_answers_to_loopback_addresses(host: str, name: str, is_answered: bool) -> None:
    assert Address(host, 80).answers_to(name) is is_answered


@pytest.mark.parametrize(
    "host",
    [
        "a..b",
        ".",
        "x" * 64,
        "x" * 300,
        "a\0b",
        "\ud800",
        "\xad",
        "",
        "[::1]",
        "no.such.host.invalid",
        "192.0.2.1",
    ],
)
def test_a_host_that_cannot_be_listened_on_is_a_wrong_call(host: str) -> None:
    with pytest.raises(MootError) as refused:
        listen(host, None)
    assert refused.value.exit_code == USAGE
    assert "--host" in refused.value.fix


def test_a_port_that_is_taken_is_a_wrong_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(MootError, match="in use") as refused:
        listen("127.0.0.1", taken.getsockname()[1])
    assert "--port" in refused.value.fix
