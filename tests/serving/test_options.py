"""Settings of the server are checked where they are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sumfit.errors import ConfigError, ServiceError
from sumfit.serving.options import ServerOptions, read_api_keys
from sumfit.serving.server import listen

KEY = "k" * 32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"port": 70000}, "port must be between 0 and 65535, was 70000"),
        ({"queue_size": 0}, "queue_size must be at least 1, was 0"),
        ({"workers": -1}, r"workers must be at least 0 \(0 for one per processor\), was -1"),
        ({"time_limit_s": 0}, "time_limit_s must be above 0 and below 86400 seconds, was 0"),
        ({"time_limit_s": float("nan")}, "time_limit_s must be above 0"),
        ({"max_n_best": 0}, "max_n_best must be at least 1, was 0"),
        ({"cors_origins": ("a.example",)}, "a CORS origin must be .*, was 'a.example'"),
        ({"cors_origins": ("https://a.example/",)}, "without a path, .* was 'https://a.example/'"),
        ({"allowed_hosts": ("https://a.example",)}, "an allowed host must be a name or address"),
        ({"allowed_hosts": ("a.example:443",)}, "without scheme, port and path, was 'a.example:4"),
        ({"api_keys": ("short",)}, "an API key must be at least 16 ASCII characters .* one has 5"),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ServerOptions(**change)


def test_the_server_listens_on_loopback_and_answers_to_loopback_names_by_default() -> None:
    options = ServerOptions()
    assert options.is_loopback
    assert options.served_hosts == {"127.0.0.1", "localhost", "::1"}
    assert options.cors_origins == ()


def test_a_public_address_answers_to_any_name_unless_names_are_given() -> None:
    assert ServerOptions(host="0.0.0.0").served_hosts is None
    assert ServerOptions(host="0.0.0.0", allowed_hosts=("a.example",)).served_hosts == {"a.example"}
    assert ServerOptions(allowed_hosts=("*",)).served_hosts is None
    assert ServerOptions(allowed_hosts=("A.example", "[::1]")).served_hosts == {"a.example", "::1"}


def test_origins_as_browsers_send_them_are_taken() -> None:
    origins = ("*", "https://a.example", "http://localhost:3000", "chrome-extension://abc")
    assert ServerOptions(cors_origins=origins).cors_origins == origins


def test_the_address_said_is_the_one_listened_on() -> None:
    listener, url = listen(ServerOptions(port=0))
    with listener:
        assert url == f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        listener, url = listen(ServerOptions(host="::1", port=0))
    except ServiceError:
        pytest.skip("this machine has no IPv6")
    with listener:
        assert url == f"http://[::1]:{listener.getsockname()[1]}"


def test_keys_come_from_the_file_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# operators\n{KEY}\n\n{'b' * 20}\n", encoding="utf-8")
    monkeypatch.setenv("SUMFIT_API_KEYS", f"{'c' * 20}, {KEY}")
    assert read_api_keys(file) == (KEY, "b" * 20, "c" * 20)
    monkeypatch.delenv("SUMFIT_API_KEYS")
    assert read_api_keys(None) == ()


def test_a_key_file_without_keys_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# none\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds no API key; write one a line"):
        read_api_keys(tmp_path / "keys")
    with pytest.raises(ConfigError, match=r"cannot read API keys from .*missing"):
        read_api_keys(tmp_path / "missing")
