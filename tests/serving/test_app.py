"""The API over a real socket: what it answers, and how it refuses."""

from __future__ import annotations

import gzip
import json
import logging
import socket
from itertools import pairwise
from typing import Any, get_args

import httpx
import pytest

from sumfit import Summarizer
from sumfit.length import measure
from sumfit.rerank import RERANKERS
from sumfit.serving.logs import JsonFormatter
from sumfit.serving.options import ServerOptions
from sumfit.serving.schemas import Options
from tests.serving.conftest import SlowSummarizer, running
from tests.tiny_model import TEXTS

TEXT = TEXTS[0]


def post(client: httpx.Client, body: Any, path: str = "/v1/summarize") -> httpx.Response:
    return client.post(path, json=body)


def error_of(response: httpx.Response) -> dict[str, Any]:
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"type", "message", "param", "request_id"}
    assert body["error"]["request_id"] == response.headers["x-request-id"]
    detail: dict[str, Any] = body["error"]
    return detail


@pytest.mark.parametrize("unit", ["words", "chars", "bytes", "graphemes", "cells"])
def test_one_text_gives_one_summary_that_fits(client: httpx.Client, unit: str) -> None:
    limit = 5 if unit == "words" else 40
    reply = post(client, {"text": TEXT, f"max_{unit}": limit}).json()
    assert reply["text"]
    assert reply["length"] == measure(reply["text"], unit) <= limit
    assert (reply["unit"], reply["limit"], reply["origin"]) == (unit, limit, "model")
    if unit in ("words", "chars"):  # units whose costs add up exactly
        assert reply["optimal"] is True
        assert reply["gap"] == 0


def test_the_server_answers_what_the_library_answers(
    client: httpx.Client, server_summarizer: Summarizer
) -> None:
    for text in TEXTS:
        reply = post(client, {"text": text, "max_chars": 45, "n_best": 3}).json()
        assert (reply["chosen_by"], reply["choice_score"], reply["unfinished"]) == (
            "graph",
            None,
            False,
        )
        summary = server_summarizer(text, max_chars=45, n_best=3)
        assert reply["text"] == summary.text
        assert reply["log_prob"] == pytest.approx(summary.log_prob)
        others = [other["text"] for other in reply["alternatives"]]
        assert others == [other.text for other in summary.alternatives]


def test_capitals_are_set_as_asked(client: httpx.Client, server_summarizer: Summarizer) -> None:
    for case in ("sentence", "title", "source", None):
        body = {"text": TEXTS[0], "max_chars": 45, "capitalization": case}
        expected = server_summarizer(TEXTS[0], max_chars=45, capitalization=case)
        assert post(client, body).json()["text"] == expected.text
    refused = post(client, {"text": TEXTS[0], "max_chars": 45, "capitalization": "upper"})
    assert refused.status_code == 422
    assert refused.json()["error"]["param"] == "capitalization"


def test_every_reranker_with_a_name_is_offered(
    client: httpx.Client, server_summarizer: Summarizer
) -> None:
    offered = Options.model_fields["rerank"].annotation
    assert set(get_args(get_args(offered)[0])) == set(RERANKERS)
    schema = Options.model_json_schema()["properties"]
    assert [schema[name]["default"] for name in ("rerank", "style")] == ["auto", "auto"]
    reply = post(client, {"text": TEXT, "max_chars": 45, "rerank": "mbr"}).json()
    assert reply["text"] == server_summarizer(TEXT, max_chars=45, rerank="mbr").text


def test_many_texts_keep_their_order_and_a_bad_one_does_not_spoil_the_others(
    client: httpx.Client, server_summarizer: Summarizer
) -> None:
    texts = [*TEXTS, "   ", *reversed(TEXTS)]
    reply = post(client, {"texts": texts, "max_words": 5}).json()
    assert reply["n_errors"] == 1
    for text, item in zip(texts, reply["summaries"], strict=True):
        if text.strip():
            assert item["text"] == server_summarizer(text, max_words=5).text
        else:
            assert item["error"]["type"] == "empty_input"
            assert item["text"] == ""


def test_each_text_may_have_its_own_limit(client: httpx.Client) -> None:
    limits = [20, 30, 40, 50, 60, 70]
    reply = post(client, {"texts": list(TEXTS), "max_chars": limits}).json()
    assert [item["limit"] for item in reply["summaries"]] == limits
    assert all(item["length"] <= item["limit"] for item in reply["summaries"])


@pytest.mark.parametrize("body", [{"unit": "chars", "limits": [20, 40]}, {"max_chars": [20, 40]}])
def test_one_text_at_several_limits_gives_one_summary_each(
    client: httpx.Client, body: dict[str, Any]
) -> None:
    reply = post(client, {"text": TEXT, **body}).json()
    for limit, item in zip([20, 40], reply["summaries"], strict=True):
        alone = post(client, {"text": TEXT, "max_chars": limit}).json()
        assert item["text"] == alone["text"]
        assert item["limit"] == limit


@pytest.mark.parametrize(
    ("body", "status", "kind", "param", "message"),
    [
        ({"text": TEXT, "max_char": 9}, 422, "unknown_field", "max_char", "did you mean 'max_cha"),
        ({"text": TEXT, "zzz": 9}, 422, "unknown_field", "zzz", "GET /docs lists the fields"),
        ({"text": 5, "max_chars": 9}, 422, "invalid_request", "text", "valid string"),
        (
            {"text": TEXT, "max_chars": "9"},
            422,
            "invalid_request",
            "max_chars",
            "max_chars: must be a whole number from 0 to 1000000, or a list of them",
        ),
        ({"text": TEXT, "max_chars": 1.5}, 422, "invalid_request", "max_chars", "a whole number"),
        ({"text": TEXT, "max_chars": True}, 422, "invalid_request", "max_chars", "a whole number"),
        ({"text": TEXT, "max_chars": -1}, 422, "invalid_request", "max_chars", "a whole number"),
        ([], 422, "invalid_request", None, "the body must be one JSON object"),
        ({"max_chars": 9}, 422, "invalid_request", None, "give either text (a string) or texts"),
        ({"text": "a", "texts": ["b"]}, 422, "invalid_request", None, "give either text"),
        (
            {"texts": ["a", "b"], "max_chars": [9]},
            422,
            "invalid_request",
            None,
            "max_chars has 1 limits for 2 texts",
        ),
        ({"texts": ["a"], "limits": [9]}, 422, "invalid_request", None, "limits goes with text"),
        ({"texts": []}, 422, "invalid_request", "texts", "at least 1 item"),
        (
            {"text": TEXT, "max_chars": 9, "max_words": 2},
            422,
            "conflicting_budget",
            "max_words",
            "max_words=2 and max_chars=9 are two length specifications",
        ),
        (
            {"text": TEXT, "preset": "poster"},
            422,
            "unknown_unit",
            "preset",
            "preset 'poster' is not",
        ),
        ({"text": TEXT, "max_length": 9, "unit": "x"}, 422, "unknown_unit", "unit", "'x'"),
        ({"text": TEXT}, 422, "budget", None, "max_"),
        ({"text": "  ", "max_chars": 9}, 422, "empty_input", None, "the text is empty"),
        ({"text": TEXT, "exact_words": 5000}, 422, "infeasible_budget", None, "5000"),
        ({"text": TEXT, "max_chars": 9, "method": "x"}, 422, "config", "method", "method must"),
        ({"text": TEXT, "max_chars": 9, "n_best": 51}, 422, "invalid_request", "n_best", "50 at m"),
        ({"text": TEXT, "max_chars": 9, "rerank": "/etc"}, 422, "invalid_request", "rerank", "mbr"),
        ({"text": TEXT, "max_chars": 9, "rerank": "neural"}, 422, "config", None, "no reranker of"),
        ({"text": TEXT, "ratio": float("inf")}, 400, "malformed_json", None, "Infinity is no JSON"),
        ({"text": TEXT, "ratio": float("nan")}, 400, "malformed_json", None, "NaN is no JSON"),
        ({"text": TEXT, "seed": -1}, 422, "invalid_request", "seed", "greater than or equal to 0"),
    ],
)
def test_a_wrong_request_is_refused_by_name(
    client: httpx.Client, body: Any, status: int, kind: str, param: str | None, message: str
) -> None:
    response = client.post(
        "/v1/summarize",
        content=json.dumps(body),
        headers={"content-type": "application/json"},
    )
    assert response.status_code == status
    error = error_of(response)
    assert (error["type"], error["param"]) == (kind, param)
    assert message in error["message"]


def test_several_wrong_fields_are_counted(client: httpx.Client) -> None:
    error = error_of(post(client, {"text": 1, "a": 1, "b": 2}))
    assert error["message"].endswith("(and 2 more fields)")


def test_more_limits_than_one_call_takes_come_back_in_order(client: httpx.Client) -> None:
    limits = list(range(20, 100))
    reply = post(client, {"text": TEXT, "unit": "chars", "limits": limits}).json()
    assert [item["limit"] for item in reply["summaries"]] == limits
    few = post(client, {"text": TEXT, "unit": "chars", "limits": limits[:40:10]}).json()
    assert [item["text"] for item in few["summaries"]] == [
        item["text"] for item in reply["summaries"][:40:10]
    ]


def test_too_many_texts_limits_and_choices_are_refused(server_summarizer: Summarizer) -> None:
    options = ServerOptions(port=0, max_texts=3, max_limits=3)
    with running(server_summarizer, options) as url, httpx.Client(base_url=url) as client:
        error = error_of(post(client, {"texts": ["a"] * 4, "max_chars": 5}))
        assert error["message"] == (
            "texts has 4 entries and a request may have 3; send several requests"
        )
        error = error_of(post(client, {"text": TEXT, "unit": "chars", "limits": [9, 8, 7, 6]}))
        assert (error["type"], error["param"]) == ("too_many_limits", "limits")
        assert client.get("/v1/model").json()["limits"]["max_texts"] == 3
    options = ServerOptions(port=0, max_results=10)
    with running(server_summarizer, options) as url, httpx.Client(base_url=url) as client:
        body = {"texts": [TEXT] * 4, "max_chars": 40, "n_best": 3}
        error = error_of(post(client, body))
        assert (error["type"], error["param"]) == ("too_many_results", "n_best")
        assert "are 12 candidates, and a reply may have 10" in error["message"]
        assert post(client, {**body, "n_best": 2}).status_code == 200


def test_the_model_is_described(client: httpx.Client) -> None:
    model = client.get("/v1/model").json()
    assert model["name"] == "tiny-copy"
    assert {"words", "chars", "bytes"} <= set(model["units"])
    assert model["presets"]["git-subject"]["limit"] == 50
    assert model["limits"]["max_n_best"] == 50
    assert model["defaults"]["method"] == "seqmap"


def test_the_graph_shows_the_path_of_the_summary(client: httpx.Client) -> None:
    reply = post(client, {"text": TEXT, "max_chars": 40}, "/v1/graph").json()
    vertices = {vertex["index"]: vertex for vertex in reply["vertices"]}
    said = "".join(vertices[index]["chosen"] for index in reply["path"])
    assert said.strip().lower() == reply["summary"]["text"].lower()  # capitals are set later
    stops = [0, *reply["path"], max(vertices)]
    chosen = {(link["source"], link["target"]) for link in reply["links"] if link["chosen"]}
    assert chosen == set(pairwise(stops))
    assert all(link["prob"] >= 0.02 for link in reply["links"] if not link["chosen"])
    assert len(vertices[1]["words"]) == 3


def test_probes_and_metrics(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    post(client, {"text": TEXT, "max_chars": 40})
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = response.text.splitlines()
    prefix = 'sumfit_requests_total{method="POST",route="/v1/summarize",status="200"} '
    (line,) = [line for line in lines if line.startswith(prefix)]
    assert float(line.removeprefix(prefix)) >= 1
    assert "sumfit_queue_texts 0.0" in lines
    assert TEXT[:20] not in response.text


@pytest.mark.parametrize("path", ["/", "/docs", "/healthz", "/readyz", "/metrics"])
def test_a_head_request_is_answered_where_a_balancer_asks(client: httpx.Client, path: str) -> None:
    response = client.head(path)
    assert (response.status_code, response.content) == (200, b"")


def test_a_request_id_is_taken_over_only_when_it_is_harmless(client: httpx.Client) -> None:
    given = client.get("/healthz", headers={"x-request-id": "job-7_a.b"})
    assert given.headers["x-request-id"] == "job-7_a.b"
    evil = client.get("/healthz", headers={"x-request-id": "a b<script>"})
    assert evil.headers["x-request-id"].isalnum()
    assert len(evil.headers["x-request-id"]) == 32


def test_unknown_addresses_and_methods_have_the_same_shape(client: httpx.Client) -> None:
    assert error_of(client.get("/nothing"))["type"] == "not_found"
    response = client.delete("/v1/model")
    assert error_of(response)["type"] == "method_not_allowed"
    assert response.headers["allow"] == "GET"
    # No redirect: behind a proxy its target would be wrong.
    assert error_of(client.post("/v1/summarize/", json={}))["type"] == "not_found"


def test_only_json_is_read(client: httpx.Client) -> None:
    response = client.post("/v1/summarize", data={"text": TEXT})
    error = error_of(response)
    assert (response.status_code, error["type"]) == (415, "unsupported_media_type")
    assert "was application/x-www-form-urlencoded" in error["message"]


@pytest.mark.parametrize(
    ("route", "body", "param"),
    [
        ("/v1/summarize", '{"text": "a", "max_chars": 30, "text": "b"}', "text"),
        ("/v1/summarize", '{"texts": ["a"], "max_chars": 30, "max_chars": 20}', "max_chars"),
        ("/v1/graph", '{"text": "a", "max_words": 3, "max_words": 3}', "max_words"),
        (
            "/v1/chat/completions",
            '{"messages": [{"role": "user", "content": "a", "content": "b"}], "max_chars": 9}',
            "content",
        ),
    ],
)
def test_a_field_that_is_there_twice_is_refused(
    client: httpx.Client, route: str, body: str, param: str
) -> None:
    response = client.post(route, content=body, headers={"content-type": "application/json"})
    error = error_of(response)
    assert (response.status_code, error["type"]) == (422, "repeated_field")
    assert error["param"] == param
    assert error["message"] == f"the field '{param}' is there twice in one object; send it once"


def test_a_compressed_body_is_refused_by_its_header(client: httpx.Client) -> None:
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    response = client.post("/v1/summarize", content=gzip.compress(b"{}"), headers=headers)
    error = error_of(response)
    assert (response.status_code, error["param"]) == (415, "content-encoding")
    assert "was encoded as 'gzip'" in error["message"]


def test_an_empty_body_is_said_to_be_empty(client: httpx.Client) -> None:
    response = client.post("/v1/summarize", headers={"content-type": "application/json"})
    error = error_of(response)
    assert (response.status_code, error["type"]) == (400, "malformed_json")
    assert "the body is empty" in error["message"]


def test_every_response_has_the_security_headers_and_no_cors(client: httpx.Client) -> None:
    for path in ("/", "/v1/model", "/nothing", "/page/app.js"):
        headers = client.get(path, headers={"origin": "https://evil.example"}).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_a_preflight_of_another_origin_is_refused_in_the_one_shape(
    server_summarizer: Summarizer,
) -> None:
    options = ServerOptions(port=0, cors_origins=("https://a.example",))
    headers = {"origin": "https://b.example", "access-control-request-method": "POST"}
    with running(server_summarizer, options) as url:
        response = httpx.options(f"{url}/v1/summarize", headers=headers)
    assert response.status_code == 403
    assert set(response.json()["error"]) == {"type", "message", "param", "request_id"}
    assert "access-control-allow-origin" not in response.headers


def test_cors_is_for_the_origins_named(server_summarizer: Summarizer) -> None:
    options = ServerOptions(port=0, cors_origins=("https://a.example",))
    with running(server_summarizer, options) as url:
        good = httpx.get(f"{url}/v1/model", headers={"origin": "https://a.example"})
        bad = httpx.get(f"{url}/v1/model", headers={"origin": "https://b.example"})
    assert good.headers["access-control-allow-origin"] == "https://a.example"
    assert "access-control-allow-origin" not in bad.headers


def test_a_page_of_a_named_origin_can_use_a_key_and_read_refusals(
    server_summarizer: Summarizer,
) -> None:
    options = ServerOptions(port=0, cors_origins=("https://a.example",), api_keys=("k" * 20,))
    origin = {"origin": "https://a.example"}
    asked = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    with running(server_summarizer, options) as url:
        with httpx.Client(base_url=url, trust_env=False, headers=origin) as client:
            preflight = client.options("/v1/summarize", headers=asked)  # browsers send no key here
            refused = client.post("/v1/summarize", json={"text": TEXT, "max_chars": 40})
    assert preflight.status_code == 200
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://a.example"
    assert "an API key is needed" in error_of(refused)["message"]


def test_a_foreign_host_name_is_refused_on_loopback(client: httpx.Client) -> None:
    for name, status in (("evil.example", 421), ("localhost:1", 200), ("[::1]:80", 200)):
        response = client.get("/v1/model", headers={"host": name})
        assert response.status_code == status
    error = error_of(client.get("/v1/model", headers={"host": "evil.example"}))
    assert "does not answer to the name 'evil.example'" in error["message"]


@pytest.mark.parametrize(
    "name",
    [
        "[::1]evil.com",
        "[::1]:80evil.com",
        "127.0.0.1:80@evil.com",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:123456",
        "127.0.0.1 ",
        "localhost.evil.com",
        "localhost,evil.com",
        "localhost/",
        "user@localhost",
        "::1",
        "[::1",
        "",
    ],
)
def test_a_host_is_a_name_and_perhaps_a_port_and_no_more(live_url: str, name: str) -> None:
    raw = f"GET /v1/model HTTP/1.1\r\nhost: {name}\r\nconnection: close\r\n\r\n"
    port = int(live_url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(raw.encode())
        status = connection.recv(65536)[9:12]
    assert status == (b"200" if name == "127.0.0.1 " else b"421")  # blanks around it are no part


def test_a_server_for_any_name_still_wants_one_that_is_well_formed(
    server_summarizer: Summarizer,
) -> None:
    options = ServerOptions(port=0, allowed_hosts=("*",))
    with running(server_summarizer, options) as url, httpx.Client(base_url=url) as client:
        for name, status in (("a.example:8", 200), ("a.example:8@b", 421), ("a b", 421)):
            assert client.get("/v1/model", headers={"host": name}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://localhost:8077"}, 200),
        ({"origin": "https://LOCALHOST:8077"}, 200),
        ({"origin": "http://localhost"}, 403),
        ({"origin": "http://localhost:8077@evil.com"}, 403),
        ({"origin": "http://localhost:8077.evil.com"}, 403),
        ({"origin": "http://evil.com"}, 403),
        ({"origin": "http://evil.com", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://evil.com", "sec-fetch-site": "same-origin"}, 200),  # behind a proxy
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({}, 200),
    ],
)
def test_pages_of_other_sites_may_not_send_requests(
    client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    body = {"text": TEXT, "max_chars": 40}
    response = client.post(
        "/v1/summarize", json=body, headers={"host": "localhost:8077", **headers}
    )
    assert response.status_code == status
    if status == 403:
        assert (error_of(response)["type"], error_of(response)["param"]) == (
            "wrong_origin",
            "origin",
        )


def test_probes_are_answered_under_any_name(server_summarizer: Summarizer) -> None:
    # A container's health check asks for 127.0.0.1, an orchestrator for the container's address.
    options = ServerOptions(port=0, allowed_hosts=("Summaries.Example.org",))
    with running(server_summarizer, options) as url:
        with httpx.Client(base_url=url, trust_env=False) as client:
            for path, status in (("/healthz", 200), ("/readyz", 200), ("/v1/model", 421)):
                assert client.get(path).status_code == status
            named = client.get("/v1/model", headers={"host": "summaries.example.org:443"})
    assert named.status_code == 200


def test_api_keys(server_summarizer: Summarizer) -> None:
    keys = ("first-key-" + "x" * 20, "second-key-" + "y" * 20)
    with running(server_summarizer, ServerOptions(port=0, api_keys=keys)) as url:
        with httpx.Client(base_url=url, trust_env=False) as client:
            body = {"text": TEXT, "max_chars": 40}
            missing = client.post("/v1/summarize", json=body)
            assert missing.status_code == 401
            assert missing.headers["www-authenticate"] == 'Bearer realm="sumfit"'
            assert "an API key is needed" in error_of(missing)["message"]
            for header in (
                {"authorization": "Bearer wrong"},
                {"authorization": f"Basic {keys[0]}"},
                {"x-api-key": keys[0][:-1]},
                {"authorization": "Bearer \u00e9".encode("latin-1")},
            ):
                assert client.post("/v1/summarize", json=body, headers=header).status_code == 401
            for header in (
                {"authorization": f"Bearer {keys[0]}"},
                {"authorization": f"bearer {keys[1]}"},
                {"x-api-key": keys[1]},
            ):
                assert client.post("/v1/summarize", json=body, headers=header).status_code == 200
            assert client.get("/metrics").status_code == 401
            for path in ("/", "/healthz", "/readyz", "/docs", "/page/app.js"):
                assert client.get(path).status_code == 200


def test_a_crash_is_a_500_that_tells_the_client_nothing_and_the_log_where(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(SlowSummarizer):
        def __call__(self, texts: Any, /, **options: Any) -> Any:
            if texts[0].startswith("The harbour wall"):
                return super().__call__(texts, **options)
            raise RuntimeError(f"cannot digest {texts[0]}")

    with caplog.at_level(logging.INFO, "sumfit"), running(Broken()) as url:
        body = {"text": "my secret", "max_chars": 5}
        response = httpx.post(f"{url}/v1/summarize", json=body)
    assert response.status_code == 500
    error = error_of(response)
    assert error["message"] == "the server failed; quote the request id to its operator"
    (record,) = [record for record in caplog.records if record.getMessage() == "crash"]
    line = JsonFormatter().format(record)
    assert json.loads(line)["request_id"] == error["request_id"]
    assert json.loads(line)["exception"] == "RuntimeError"
    assert "secret" not in caplog.text + line


def test_the_log_has_one_json_line_a_request_without_its_text(
    server_summarizer: Summarizer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "sumfit"), running(server_summarizer) as url:
        httpx.post(f"{url}/v1/summarize", json={"text": TEXT, "max_chars": 40})
        httpx.get(f"{url}/%1b[31mred%0a")
    lines = [JsonFormatter().format(r) for r in caplog.records if r.getMessage() == "request"]
    assert not any(TEXT[:20] in line for line in lines)
    assert all(line.isascii() and line.isprintable() for line in lines)
    entries = [json.loads(line) for line in lines]
    (post_entry,) = [entry for entry in entries if entry["method"] == "POST"]
    assert post_entry["status"] == 200
    assert post_entry["n_texts"] == 1
    assert post_entry["duration_ms"] > 0
    assert entries[-1]["path"] == "/\\x1b[31mred\\n"


def test_the_pages_files_are_cached_by_tag(client: httpx.Client) -> None:
    first = client.get("/page/style.css")
    assert first.headers["content-type"] == "text/css; charset=utf-8"
    again = client.get("/page/style.css", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    for name in ("index.html", "..%2fapp.py", "nothing.js"):
        assert client.get(f"/page/{name}").status_code == 404


def test_a_long_search_is_cut_off_with_a_gap(server_summarizer: Summarizer) -> None:
    seen: list[float] = []

    class Timed(SlowSummarizer):
        def __call__(self, texts: Any, /, **options: Any) -> Any:
            seen.append(round(options.pop("time_limit_s", 0), 1))
            return server_summarizer(texts, **options)

    options = ServerOptions(port=0, time_limit_s=4, search_time_limit_s=1.5)
    with running(Timed(), options) as url, httpx.Client(base_url=url) as client:
        seen.clear()
        post(client, {"text": TEXT, "max_chars": 40})
        post(client, {"text": TEXT, "unit": "chars", "limits": [20] * 20})
        # What is left of the four seconds, shared among the limits.
        assert seen == [1.5, 0.2]
        error = error_of(post(client, {"text": TEXT, "max_chars": 40, "time_limit_s": 900}))
        assert error["type"] == "unknown_field"
