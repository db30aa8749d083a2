"""The model inside the package: complete, small, and good enough to be called one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sumfit import Summarizer, measure
from sumfit.errors import InfeasibleBudgetError
from sumfit.evaluation.fidelity import unknown_words
from sumfit.runtime import default_model_path
from sumfit.text import ends_completely

EXAMPLES = Path(__file__).parent.parent / "examples"

pytestmark = pytest.mark.skipif(
    not (default_model_path() / "config.json").is_file(),
    reason="this checkout has no embedded model",
)


@pytest.fixture(scope="module")
def default() -> Summarizer:
    return Summarizer.from_pretrained()


@pytest.fixture(scope="module")
def english() -> list[str]:
    files = sorted((EXAMPLES / "texts").glob("*.txt"))
    return [file.read_text(encoding="utf-8") for file in files if "-awkward-" not in file.name]


def test_the_weights_fit_the_package() -> None:
    files = [file for file in default_model_path().rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 35 * 2**20


@pytest.mark.parametrize(
    ("unit", "limit"), [("words", 8), ("chars", 40), ("chars", 60), ("bytes", 155), ("tokens", 12)]
)
def test_every_example_fits_and_ends(
    default: Summarizer, english: list[str], unit: str, limit: int
) -> None:
    for text, summary in zip(english, default(english, **{f"max_{unit}": limit}), strict=True):
        assert summary.error is None
        assert 0 < measure(summary.text, unit, tokenizer=default.tokenizer) <= limit
        assert summary.complete
        assert ends_completely(summary.text)
        lexicon = default.model.lexicon
        assert lexicon is not None
        assert not unknown_words(summary.text, text, lexicon)


FEW_WORDS = ["Hello", "Hello world", "Thanks", "Error 404", "Good morning everybody", "Nein danke"]
FEW_WORDS += ['"Congratulations"', "Überraschung", "students' protests"]


@pytest.mark.parametrize("text", FEW_WORDS)
def test_a_few_words_are_told_in_these_words(default: Summarizer, text: str) -> None:
    own = {word.lower() for word in re.findall(r"\w+", text)}
    for limit in range(1, len(text)):
        summary = default(text, max_chars=limit, on_error="return")
        if min(map(len, own)) > limit:
            assert type(summary.error) is InfeasibleBudgetError  # none is possible, that is known
            assert "no summary of this text" in str(summary.error)
            assert f"measures at most {limit} chars" in str(summary.error)
        words = re.findall(r"\w+", summary.text.lower())
        assert set(words) <= own, (limit, summary.text)
    assert default(text, max_chars=5, on_error="return", whole_words=False).text


@pytest.mark.parametrize(
    ("text", "summaries"),
    [
        ("Hello world", {"", "Hello", "world", "World"}),
        ("It's Hello", {"", "It", "It?", "It's", "Hello"}),
        ("McDonald's closes", {"", "Closes", "McDonald", "McDonald's", "McDonald closes"}),
    ],
)
def test_a_few_words_gain_no_ending(default: Summarizer, text: str, summaries: set[str]) -> None:
    for limit in range(1, len(text)):
        assert default(text, max_chars=limit, on_error="return").text in summaries


def test_summaries_are_about_their_text(default: Summarizer, english: list[str]) -> None:
    shares = []
    for text, summary in zip(english, default(english, max_chars=60), strict=True):
        known = {word.lower()[:4] for word in re.findall(r"[^\W\d_]{4,}", text)}
        words = [word.lower()[:4] for word in re.findall(r"[^\W\d_]{4,}", summary.text)]
        shares.append(sum(word in known for word in words) / len(words) if words else 1.0)
    assert sum(shares) / len(shares) > 0.75


def test_news_is_proved_best(default: Summarizer, english: list[str]) -> None:
    news = english[:7]
    assert all(summary.optimal for summary in default(news, max_words=8, rerank=None))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_one_command_needs_little_memory(english: list[str]) -> None:
    code = (
        "import sys\n"
        "from sumfit.cli.app import run\n"
        f"code = run([{english[0]!r}, '--max-chars', '63'])\n"
        "status = open('/proc/self/status').read()\n"  # ru_maxrss would count the parent's
        "print(int(status.split('VmHWM:')[1].split()[0]) // 1024)\n"
        "sys.exit(code)\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "SUMFIT_MODEL"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env=environment,
    )
    summary, memory = done.stdout.splitlines()
    assert 0 < len(summary) <= 63
    assert int(memory) < 700


def test_the_example_script(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "run"), "news-bridge", "one-word"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        cwd=tmp_path,
        encoding="utf-8",
    )
    assert "01-news-bridge: " in done.stdout
    assert done.stdout.rstrip().endswith(" 0 limits broken")


def test_a_limit_too_small_for_any_word_is_no_matter_of_writing(
    default: Summarizer, english: list[str]
) -> None:
    for text in (english[0], "Hello world"):
        summary = default(text, max_chars=1, on_error="return")
        if summary.error is None:  # some graphs have "I"
            assert len(summary.text) == 1
        else:
            assert type(summary.error) is InfeasibleBudgetError
            assert "no summary of this text measures at most 1 " in str(summary.error)
    assert summary.error is not None


@pytest.mark.parametrize(
    ("text", "length"),
    [("🇫🇷" * 20, {"max_chars": 4}), ("🇫🇷🇩🇪 👩‍👩‍👧‍👦 " * 12, {"max_cells": 7, "n_best": 20})],
)
def test_no_half_of_a_flag_or_an_emoji(
    default: Summarizer, text: str, length: dict[str, int]
) -> None:
    try:
        summary = default(text, **length)
    except InfeasibleBudgetError:
        return
    for one in (summary, *summary.alternatives):
        assert not re.search("(?<![🇦-🇿])([🇦-🇿][🇦-🇿])*[🇦-🇿](?![🇦-🇿])", one.text), one.text
        assert one.text == one.text.strip("\u200d")


SCOPED = (
    "net: ipv4: fix memory leak in ip_fib_dump: The route dump function allocated a buffer and did "
    "not free it on the error path, so each failed dump leaked 4 kB. Free it before returning.",
    "The driver for the network card did not check the return value of the allocation. net: fix "
    "the check so that the kernel does not crash when memory is low.",
    "The network stack frees a socket twice when the driver resets during close. net: check the "
    "count in the close path before the socket is freed, so that net: drivers no longer crash.",
    "net: the loopback device drops a packet when its queue is empty. net: keep the packet until "
    "the queue is filled again. The net: tests did not cover this case, so a test is added.",
)


@pytest.mark.parametrize("options", [{}, {"constraints": False}, {"rerank": None}])
@pytest.mark.parametrize("prefix", ["net: ", "NET:", "[net] "])
def test_a_label_stands_once(default: Summarizer, prefix: str, options: dict[str, object]) -> None:
    lists = [default(text, preset="git-subject", n_best=16, **options) for text in SCOPED]
    labels = [any(one.text.startswith("net: ") for one in (s, *s.alternatives)) for s in lists]
    assert any(labels)  # which is what the search has to leave out
    for text in SCOPED:
        found = default(text, preset="git-subject", prefix=prefix, n_best=3, **options)
        for one in (found, *found.alternatives):
            assert one.text.startswith(prefix)
            rest = one.text.removeprefix(prefix).casefold()
            others = ("net:", "net_", "net/", "net-", "net.", "net,")
            assert not rest.startswith((prefix.strip().casefold(), *others))
            assert one.length <= 50
        if options.get("rerank", "") is None:
            assert found.optimal  # the label is left out by the search, not after it


def test_a_text_with_the_label_gets_no_second_one(default: Summarizer) -> None:
    asked = {"max_chars": 20, "prefix": "net: "}
    kept = default("Net: fix the leak", **asked)
    assert (kept.text, kept.origin, kept.length) == ("net: fix the leak", "source", 17)
    cut = default("net: зафиксируйте эту утечку", **asked, on_infeasible="cut")
    assert (cut.text, cut.origin) == ("net: зафиксируйте…", "cut")
    required = default(SCOPED[0], preset="git-subject", prefix="net: ", required=["net:"])
    assert required.text.casefold().count("net:") == 2


@pytest.mark.parametrize("method", ["greedy", "sample", "seqmap-table"])
def test_a_label_does_not_stand_in_the_way_of_methods_without_constraints(
    default: Summarizer, method: str
) -> None:
    asked = {"max_chars": 150, "constraints": False, "method": method, "seed": 1}
    found = default(SCOPED[1], **asked, prefix="net: ")
    assert found.text.startswith("net: ")
    assert found.origin == "model"


@pytest.mark.parametrize(
    ("things", "seller", "locks", "limit", "reserve"),
    [
        ("two Loom printers", "school", "PIN codes", 60, 12),
        ("five Kestrel phones", "shop", "disk passwords", 52, 14),
        ("ten Acme laptops", "school", "disk passwords", 52, 14),
    ],
)
@pytest.mark.parametrize("rerank", ["auto", None])
def test_a_message_is_found_though_the_best_ones_ask_what_the_text_does_not(
    default: Summarizer,
    things: str,
    seller: str,
    locks: str,
    limit: int,
    reserve: int,
    rerank: str | None,
) -> None:
    text = (
        f"I have just bought {things} from a {seller} which 🎉 has now ended. Problem is there 😀 "
        f"are {locks} ón them which I don't have. How ❤️ could I wipe these?? Any ideas? I have "
        "little money here so can't be buying new 🎉 ones."
    )
    found = default(text, max_length=limit, unit="sms", reserve=reserve, rerank=rerank)
    assert found.origin == "model"
    assert measure(found.text, "sms") + reserve <= limit


def test_frequent_words_that_lines_parted_are_read_whole(default: Summarizer) -> None:
    text = (
        "The coun-\ncil will up-\ndate the frame-\nwork of the net-\nwork be-\nfore it is "
        "re-\nleased, said a well-\nknown re-\nsearcher of pre-\ntrained mod-\nels."
    )
    read = default(text, max_chars=300).text
    assert read == (
        "The council will update the framework of the network before it is released, said a "
        "well-known researcher of pre-trained models."
    )
