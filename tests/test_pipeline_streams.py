"""Many texts: order, bounded look-ahead, errors in place, batches that change nothing."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import socket
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sumfit
from sumfit import Summarizer, Summary
from sumfit.errors import (
    BudgetError,
    ConfigError,
    ConflictingBudgetError,
    ConstraintError,
    EmptyInputError,
    InfeasibleBudgetError,
    InputError,
)
from sumfit.pipeline.stream import grouped, ordered_map

EXAMPLES = Path(__file__).parent.parent / "examples" / "texts"


def facts(summary: Summary) -> dict[str, Any]:
    """Everything about a summary but the time it took."""
    values = dataclasses.asdict(summary)
    del values["timings"]
    error = values.pop("error")
    for name in ("log_prob", "score"):
        values[name] = repr(values[name])  # nan equals itself
    return {**values, "error": repr(error)}


def test_a_list_gives_a_list_in_order(fit: Summarizer, texts: tuple[str, ...]) -> None:
    together = fit(list(texts), max_chars=40)
    assert isinstance(together, list)
    assert [facts(one) for one in together] == [facts(fit(text, max_chars=40)) for text in texts]


def test_a_tuple_and_a_set_are_lists_too(fit: Summarizer, texts: tuple[str, ...]) -> None:
    assert len(fit(texts, max_chars=40)) == len(texts)
    assert fit([], max_chars=40) == []
    assert len(fit({texts[0]}, max_chars=40)) == 1


def test_a_result_does_not_depend_on_its_batch(tiny_model: Path) -> None:
    many = [file.read_text(encoding="utf-8") for file in sorted(EXAMPLES.glob("*.txt"))[:16]]
    one = Summarizer.from_pretrained(tiny_model, n_workers=1)
    four = Summarizer.from_pretrained(tiny_model, n_workers=4)
    keywords = {
        "max_chars": 50,
        "on_infeasible": "cut",
        "on_error": "return",
        "max_expansions": 300,
    }
    expected = [facts(one(text, **keywords)) for text in many]
    assert [facts(item) for item in four(many, **keywords)] == expected
    assert [facts(item) for item in four(many[::-1], **keywords)][::-1] == expected
    assert [facts(item) for item in four(many[3:7], batch_size=2, **keywords)] == expected[3:7]


def test_a_generator_gives_an_iterator(fit: Summarizer, texts: tuple[str, ...]) -> None:
    taken = []

    def endless() -> Iterator[str]:
        number = 0
        while True:
            taken.append(number)
            yield texts[number % len(texts)]
            number += 1

    results = fit(endless(), max_chars=40)
    assert not taken, "nothing is read before a result is asked for"
    first = [next(results) for _ in range(3)]
    assert [facts(one) for one in first] == [facts(fit(text, max_chars=40)) for text in texts[:3]]
    assert len(taken) <= 3 + fit.n_workers + 4 * fit.n_workers + 1
    results.close()


def test_look_ahead_follows_batch_size(fit: Summarizer, texts: tuple[str, ...]) -> None:
    taken = 0

    def source() -> Iterator[str]:
        nonlocal taken
        for text in texts * 50:
            taken += 1
            yield text

    results = fit(source(), max_chars=40, batch_size=1)
    next(results)
    assert taken <= fit.n_workers + 3
    results.close()


def test_errors_stay_in_their_places(fit: Summarizer, texts: tuple[str, ...]) -> None:
    mixed = [texts[0], "", None, texts[1], 7, b"x", "  ", texts[2]]
    results = fit(mixed, max_chars=40)
    kinds = [type(one.error) for one in results]
    nothing = type(None)
    assert kinds == [
        nothing,
        EmptyInputError,
        InputError,
        nothing,
        InputError,
        InputError,
        EmptyInputError,
        nothing,
    ]
    assert str(results[4].error) == "a text must be a string, was int"
    assert str(results[5].error) == "a text must be a string, was bytes; decode it as UTF-8 first"
    assert [one.text == "" for one in results] == [kind is not nothing for kind in kinds]


def test_errors_can_be_raised(fit: Summarizer, texts: tuple[str, ...]) -> None:
    results = fit.stream([texts[0], "", texts[1]], max_chars=40, on_error="raise")
    assert next(results).error is None
    with pytest.raises(EmptyInputError):
        next(results)


def test_bad_options_are_raised_before_anything_is_read(fit: Summarizer) -> None:
    def never() -> Iterator[str]:
        raise AssertionError("read")
        yield ""

    with pytest.raises(BudgetError):
        fit(never(), max_chars=-1)
    with pytest.raises(ConfigError, match="batch_size must be at least 1, was 0"):
        fit(never(), max_chars=40, batch_size=0)
    with pytest.raises(ConfigError, match="on_error must be 'raise' or 'return', was 'skip'"):
        fit(never(), max_chars=40, on_error="skip")


def test_an_error_of_the_input_reaches_the_caller(fit: Summarizer, texts: tuple[str, ...]) -> None:
    def breaking() -> Iterator[str]:
        yield texts[0]
        raise OSError("disk gone")

    results = fit(breaking(), max_chars=40)
    assert facts(next(results)) == facts(fit(texts[0], max_chars=40))
    with pytest.raises(OSError, match="disk gone"):
        next(results)


def test_each_text_may_have_its_own_limit(fit: Summarizer, texts: tuple[str, ...]) -> None:
    limits = [20, 35, 50]
    results = fit(list(texts[:3]), max_chars=limits)
    assert [one.limit for one in results] == limits
    assert all(0 < one.length <= limit for one, limit in zip(results, limits, strict=True))
    streamed = list(fit(iter(texts[:3]), max_chars=iter(limits)))
    assert [facts(one) for one in streamed] == [facts(one) for one in results]
    counted = list(fit(iter(texts[:3]), max_chars=limits))
    assert [facts(one) for one in counted] == [facts(one) for one in results]


def test_a_bad_limit_spoils_its_own_text_alone(fit: Summarizer, texts: tuple[str, ...]) -> None:
    good, bad, none = fit(list(texts[:3]), max_chars=[40, -3, 0])
    assert good.error is None
    assert str(bad.error) == "max_chars must be 0 or more, was -3"
    assert isinstance(none.error, InfeasibleBudgetError)


def test_counts_of_texts_and_limits_must_agree(fit: Summarizer, texts: tuple[str, ...]) -> None:
    with pytest.raises(BudgetError, match="max_chars has 2 values for 3 texts; give one for each"):
        fit(list(texts[:3]), max_chars=[40, 50])
    with pytest.raises(BudgetError, match="there are 2 limits, but more texts; give one for each"):
        list(fit(iter(texts[:3]), max_chars=[40, 50]))
    with pytest.raises(BudgetError, match="there are 4 limits for 3 texts; give one for each"):
        list(fit(iter(texts[:3]), max_chars=[40, 50, 60, 70]))
    with pytest.raises(BudgetError, match="there are fewer limits than texts; give one for each"):
        list(fit(iter(texts[:3]), max_chars=iter([40, 50])))


def test_limits_gives_several_summaries_of_each_text(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    rows = fit(list(texts[:2]), limits=[25, 50], unit="chars")
    assert [[one.limit for one in row] for row in rows] == [[25, 50], [25, 50]]
    with pytest.raises(ConflictingBudgetError, match=r"limits=\[25\] and max_words=8 are two"):
        fit(list(texts), limits=[25], unit="chars", max_words=8)
    with pytest.raises(BudgetError, match=r"^limits must be one list of .*, was \[\[30, 40\]\]; w"):
        fit(list(texts), limits=[[30, 40]], unit="chars")
    with pytest.raises(BudgetError, match="limits= needs unit=, for example"):
        fit(texts[0], limits=[25])


def test_an_unusable_limit_of_several_loses_no_other(
    fit: Summarizer, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = [40, 0, -3, 30]
    found = fit(texts[0], max_chars=limits, on_error="return")
    for one, limit in zip(found, limits, strict=True):
        if limit > 0:
            assert facts(one) == facts(fit(texts[0], max_chars=limit))
    assert [type(one.error) for one in found] == [
        type(None),
        InfeasibleBudgetError,
        BudgetError,
        type(None),
    ]
    late = (
        "2 of 3 limits cannot be met: the required words cost at least 6, but the limit is 3; .*; "
        "the required words cost at least 6, but the limit is 4; .*; leave them out, or use "
        "on_error='return' for the others"
    )
    with pytest.raises(ConstraintError, match=late):
        fit(texts[0], max_chars=[3, 40, 4], required=["cracks"])

    def never(*_: object) -> None:
        raise AssertionError("predicted")

    monkeypatch.setattr(fit.backend, "graphs", never)
    early = (
        "2 of 4 limits cannot be met: no summary of this text measures at most 0 chars; .*; "
        "max_chars must be 0 or more, was -3; leave them out"
    )
    with pytest.raises(InfeasibleBudgetError, match=early):
        fit(texts[0], max_chars=limits)
    with pytest.raises(BudgetError, match="1 of 2 limits cannot be met: max_length must be a whol"):
        fit(texts[0], limits=["long", 40], unit="chars")
    for wrong in (30, "30", b"30", {"chars": 30}):
        for keywords in ({}, {"unit": "chars"}):
            for given in (texts[0], list(texts)):
                with pytest.raises(
                    BudgetError, match=f"^limits must be .*, was {wrong!r}; write li"
                ):
                    fit(given, limits=wrong, **keywords)
    with pytest.raises(BudgetError, match=r"^max_chars .*, was '30'; write 30 without quotes$"):
        fit(texts[0], max_chars="30")
    with pytest.raises(BudgetError, match=r"^limits is an empty list; .*, as in limits=\[30\]$"):
        fit(texts[0], limits=[])
    with pytest.raises(EmptyInputError, match=r"^the text is empty"):
        fit(" ", max_chars=[30, 40])


def test_no_network(
    tiny_model: Path, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    fit = Summarizer.from_pretrained(tiny_model, n_workers=2)
    assert all(one.text for one in fit(list(texts), max_chars=40, rerank="mbr"))
    with pytest.raises(sumfit.SumfitError, match="downloads nothing"):
        Summarizer.from_pretrained("facebook/bart-large-cnn")


def test_one_object_serves_many_threads(fit: Summarizer, texts: tuple[str, ...]) -> None:
    expected = [facts(fit(text, max_chars=40)) for text in texts]
    wrong: list[object] = []

    def work() -> None:
        for _ in range(5):
            if [facts(fit(text, max_chars=40)) for text in texts] != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("n_workers", [1, 3])
def test_ordered_map_keeps_order_and_raises_in_place(n_workers: int) -> None:
    def double(number: int) -> int:
        if number == 7:
            raise ValueError("seven")
        return 2 * number

    results = ordered_map(double, range(10), n_workers=n_workers, look_ahead=2)
    assert [next(results) for _ in range(7)] == [0, 2, 4, 6, 8, 10, 12]
    with pytest.raises(ValueError, match="seven"):
        next(results)


@pytest.mark.parametrize("n_workers", [1, 3])
def test_an_error_of_the_items_comes_behind_the_results_before_it(n_workers: int) -> None:
    def breaking() -> Iterator[int]:
        yield from range(5)
        raise OSError("disk gone")

    results = ordered_map(str, breaking(), n_workers=n_workers, look_ahead=8)
    assert [next(results) for _ in range(5)] == ["0", "1", "2", "3", "4"]
    with pytest.raises(OSError, match="disk gone"):
        next(results)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array("a text"), "give a string or an iterable of strings, was ndarray"),
        (types.SimpleNamespace(columns=["a"], __iter__=iter), "SimpleNamespace; give one of its"),
    ],
)
def test_what_iterates_over_no_texts_is_refused(fit: Summarizer, given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit(given, max_chars=40)


def test_one_text_is_no_stream_and_two_limits_are_no_summary(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    with pytest.raises(InputError, match="stream takes many texts, was one string; call the sum"):
        fit.stream(texts[0], max_chars=40)
    with pytest.raises(InputError, match="an iterable of strings, was NoneType"):
        fit.stream(None, max_chars=40)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="summarize takes one limit, was 2; call the summarizer"):
        fit.summarize(texts[0], max_chars=[30, 40])


def test_whole_numbers_of_numpy_are_whole_numbers(fit: Summarizer, texts: tuple[str, ...]) -> None:
    numbers = {"n_best": 3, "max_expansions": 500, "beam_size": 9, "seed": 2}
    theirs = {name: np.int64(value) for name, value in numbers.items()}
    one, two = fit(texts[0], max_chars=40, **theirs), fit(texts[0], max_chars=40, **numbers)
    assert len(one.alternatives) == 2
    assert [other.text for other in one.alternatives] == [other.text for other in two.alternatives]


def test_a_pickled_summarizer_writes_the_same(tiny_model: Path, texts: tuple[str, ...]) -> None:
    one = Summarizer.from_pretrained(tiny_model, n_workers=2, precision="fp32")
    two = pickle.loads(pickle.dumps(one))
    assert (two.n_workers, two.backend.name) == (2, one.backend.name)
    assert facts(two(texts[0], max_chars=40)) == facts(one(texts[0], max_chars=40))
    assert len(pickle.dumps(one)) < 1000
    assert facts(copy.deepcopy(one)(texts[0], max_chars=40)) == facts(one(texts[0], max_chars=40))


def test_the_default_model_is_pickled_without_its_place() -> None:
    data = pickle.dumps(Summarizer.from_pretrained(n_workers=1))
    assert b"assets" not in data
    assert pickle.loads(data).model.path == sumfit.runtime.default_model_path()


def test_grouped() -> None:
    assert list(grouped(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(grouped([], 2)) == []
