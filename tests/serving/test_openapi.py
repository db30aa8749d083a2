"""Generated requests against the OpenAPI document, and the document against the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from sumfit.pipeline.options import LENGTH_KEYWORDS, Options
from sumfit.serving.app import openapi_document
from sumfit.serving.reference import to_html, to_markdown
from sumfit.serving.schemas import SummarizeRequest

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = [
    ("POST", "/v1/summarize"),
    ("POST", "/v1/graph"),
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/model"),
    ("GET", "/v1/models"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
]


def test_every_operation_is_described_and_can_fail_in_the_one_shape() -> None:
    document = openapi_document()
    found = {(verb.upper(), path) for path, verbs in document["paths"].items() for verb in verbs}
    assert found == set(OPERATIONS)
    for verbs in document["paths"].values():
        for operation in verbs.values():
            for status, reply in operation["responses"].items():
                if status != "200":
                    schema = reply["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/ErrorReply"}


def test_requests_take_every_option_of_the_library_that_is_safe_to_offer() -> None:
    offered = set(SummarizeRequest.model_fields) - {"text", "texts"}
    library = {*LENGTH_KEYWORDS, *Options.__dataclass_fields__}
    # What decides how much work a request is stays with the operator.
    kept_back = {
        "beam_size",
        "words_per_vertex",
        "max_expansions",
        "time_limit_s",
        "bonus",
        "unit_bonus",
        "is_cancelled",  # a function: the server gives its own
    }
    assert offered == library - kept_back


def test_the_documentation_is_made_from_the_document() -> None:
    document = openapi_document()
    page = (ROOT / "docs" / "http-api.md").read_text(encoding="utf-8")
    assert page == to_markdown(document), (
        "run: python -m sumfit.serving.reference > docs/http-api.md"
    )
    html = to_html(document)
    assert html.count("<script") == html.count('<script type="module" src="page/try.js">') == 1
    assert all(path in html for _, path in OPERATIONS)


@pytest.mark.parametrize(("verb", "path"), OPERATIONS)
def test_generated_requests_are_answered_as_documented(live_url: str, verb: str, path: str) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    # Which fields may stand together is said in words, not in the schema.
    beyond_schema = [positive_data_acceptance]
    operation = schemathesis.openapi.from_dict(openapi_document())[path][verb]

    @settings(
        max_examples=25,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    @given(case=operation.as_strategy())
    def check(case: Any) -> None:
        response = case.call(base_url=live_url, timeout=120)
        assert response.status_code < 500
        case.validate_response(response, excluded_checks=beyond_schema)

    check()
