"""What users of other summarizers reported, one test for each kind.

Each docstring says what happened elsewhere; the test shows what happens here. Reports about
counting, evaluation, training and serving are tested beside that code.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import sumfit
from sumfit import Summarizer, Summary, measure
from sumfit.errors import (
    BudgetError,
    ConflictingBudgetError,
    EmptyInputError,
    InfeasibleBudgetError,
)
from sumfit.text import ends_completely

SHORT = "Ferry service resumes tomorrow."
UNITS = ("words", "tokens", "chars", "graphemes", "bytes", "cells")


def listed(summary: Summary) -> list[Summary]:
    return [summary, *summary.alternatives]


class TestLimits:
    """Length limits ignored, cut, or in the wrong unit."""

    def test_never_chopped_because_the_cap_came(
        self, fit: Summarizer, texts: tuple[str, ...]
    ) -> None:
        """A summary ended at a comma when the token cap was reached."""
        for text in texts:
            for limit in (15, 25, 40, 60):
                summary = fit(text, max_chars=limit)
                assert summary.complete
                assert ends_completely(summary.text)
                words = text.replace(".", "").replace(",", "").lower().split()
                assert all(word.strip(".,").lower() in words for word in summary.text.split())

    def test_minimum_and_maximum_both_hold(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """Outputs came out shorter than the minimum."""
        for text in texts:
            summary = fit(text, min_words=6, max_words=7)
            assert 6 <= len(summary.text.split()) <= 7
        with pytest.raises(InfeasibleBudgetError, match="measures 300 to 301 words"):
            fit(texts[0], min_words=300, max_words=301)

    def test_short_inputs_pass_quietly(self, fit: Summarizer) -> None:
        """A 20-word input gave advice to 'decrease max_length' and invented text."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            summary = fit(SHORT, max_words=50)
        assert (summary.text, summary.origin) == (SHORT, "source")

    def test_never_longer_than_the_source(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """A short input gave a summary longer than itself."""
        for unit in UNITS:
            whole = measure(texts[2], unit, tokenizer=fit.tokenizer)
            summary = fit(texts[2], keep_short=False, bonus=2.0, **{f"max_{unit}": whole + 50})
            assert summary.length <= whole

    def test_no_hidden_default(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """A default cap of 20 tokens applied silently."""
        with pytest.raises(BudgetError, match="no length limit was given"):
            fit(texts[0])
        summary = fit(texts[0], max_chars=40)
        assert (summary.unit, summary.limit, summary.min_length) == ("chars", 40, 0)
        assert summary.bonus == fit.describe()["config"]["bonus"]["default"]
        assert summary.method == fit.describe()["defaults"]["method"]

    def test_a_longer_limit_is_never_worse(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """A length penalty had no visible effect, or the reverse of the expected one."""
        for text in texts:
            several = fit(text, max_chars=[15, 25, 35, 45, 55, 65])
            scores = [summary.score for summary in several]
            assert scores == sorted(scores)
        lengths = [fit(texts[0], max_chars=70, bonus=bonus).length for bonus in (0.0, 1.0, 2.0)]
        assert lengths == sorted(lengths)
        assert lengths[0] < lengths[-1]

    def test_two_settings_conflict_loudly(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """Of two length settings one won silently."""
        with pytest.raises(ConflictingBudgetError) as caught:
            fit(texts[0], max_words=8, preset="seo-title")
        assert "max_words=8" in str(caught.value)
        assert "preset='seo-title'" in str(caught.value)

    def test_a_complete_summary_of_exactly_this_length(
        self, fit: Summarizer, texts: tuple[str, ...]
    ) -> None:
        """Users asked for a complete summary of 20 words and were told it cannot be done."""
        for n_words in (4, 5, 6, 7):
            summary = fit(texts[1], exact_words=n_words)
            assert len(summary.text.split()) == n_words
            assert summary.complete

    def test_every_length_keyword_changes_the_output(
        self, fit: Summarizer, texts: tuple[str, ...]
    ) -> None:
        """Minimum and maximum flags did nothing."""
        text = texts[1]
        assert fit(text, max_words=3).text != fit(text, max_words=7).text
        assert fit(text, exact_words=3).text != fit(text, exact_words=7).text
        assert fit(text, min_words=8, max_words=9).length > fit(text, max_words=9, bonus=0).length

    def test_no_filler_at_the_end(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """A forced minimum was padded with a run of full stops."""
        for text in texts:
            text_out = fit(text, exact_chars=44).text
            assert not text_out.endswith(("..", ". .", ",,", "  "))
            words = [word.strip(".,").lower() for word in text_out.split()]
            assert len(set(words)) >= len(words) - 1  # a function word may come twice

    @pytest.mark.parametrize(
        ("preset", "unit", "limit"),
        [
            ("seo-title", "chars", 60),
            ("meta-description", "chars", 155),
            ("tweet", "tweet", 280),
            ("sms", "sms", 160),
            ("push", "chars", 178),
            ("git-subject", "chars", 50),
            ("git-subject-hard", "chars", 72),
            ("email-subject", "chars", 60),
            ("synopsis", "chars", 79),
            ("app-subtitle", "chars", 30),
        ],
    )
    def test_slots_by_name(
        self, fit: Summarizer, texts: tuple[str, ...], preset: str, unit: str, limit: int
    ) -> None:
        """Meta descriptions, titles, pushes and commit subjects came out too long."""
        summary = fit(" ".join(texts[:3]), preset=preset)
        assert summary.unit == unit
        assert summary.length == measure(summary.text, unit) <= summary.limit
        assert summary.limit == limit

    def test_one_call_is_enough(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """Callers retried three times and then gave up; the same text failed every time."""
        first = fit(texts[0], max_chars=30)
        assert all(fit(texts[0], max_chars=30).text == first.text for _ in range(3))

    @pytest.mark.parametrize("n_words", [1, 2, 3, 4])
    def test_tiny_budgets(self, fit: Summarizer, texts: tuple[str, ...], n_words: int) -> None:
        """'At most 2 words' gave three every time."""
        for text in texts:
            assert 1 <= len(fit(text, max_words=n_words).text.split()) <= n_words

    def test_only_the_summary(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """Titles came with 'Here is a title:' in front."""
        for text in texts:
            summary = fit(text, max_chars=50).text
            assert ":" not in summary
            assert "\n" not in summary

    def test_limits_of_each_item(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """Subtitles need a limit of their own for each cue; languages differ as well."""
        limits = [20 + 7 * number for number in range(len(texts))]
        summaries = fit(list(texts), max_cells=limits)
        assert [summary.limit for summary in summaries] == limits
        assert all(summary.length <= summary.limit for summary in summaries)

    def test_flags_say_what_happened(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """A cut was not signalled."""
        summary = fit(" ".join(texts * 3), max_chars=40)
        assert summary.source_truncated
        assert (summary.limit, summary.length) == (40, len(summary.text))
        cut = fit(texts[0], max_chars=24, required=["zebra"], on_infeasible="cut")
        assert (cut.origin, cut.complete) == ("cut", False)

    def test_bytes(self, fit: Summarizer) -> None:
        """Push payloads are limited in bytes; emoji and CJK blew the limit."""
        for text in ("🎉 " * 40, "東京の地下鉄が止まった。" * 10, "Zoë Müller-Ångström " * 9):
            for limit in (5, 20, 50):
                summary = fit(text, max_bytes=limit, on_infeasible="cut", on_error="return")
                assert len(summary.text.encode("utf-8")) <= limit
                assert summary.text or summary.error is not None

    def test_subjects_count_characters_and_their_prefix(
        self, fit: Summarizer, texts: tuple[str, ...]
    ) -> None:
        """A commit subject was cut, or refused because its bytes were counted."""
        prefix = "brücke(größe): "
        summary = fit(texts[0], preset="git-subject", prefix=prefix)
        assert summary.text.startswith(prefix)
        assert len(summary.text) == summary.length <= 50
        exact = fit(texts[0], exact_chars=50, prefix=prefix)
        assert len(exact.text) == 50 < len(exact.text.encode())

    def test_emoji_count_as_the_unit_says(self, fit: Summarizer) -> None:
        """Clients and services counted joined emoji differently, and valid posts were rejected."""
        text = "👩‍👩‍👧‍👦 👍🏽 🇫🇷 ok"
        for unit, length in (("graphemes", 8), ("tweet", 11), ("chars", 16)):
            summary = fit(text, max_length=length, unit=unit)
            assert (summary.text, summary.length, summary.origin) == (text, length, "source")
            shorter = fit(text, max_length=length - 1, unit=unit, on_infeasible="cut")
            assert measure(shorter.text, unit) < length

    def test_a_length_of_ones_own_need_not_add_up(
        self, fit: Summarizer, texts: tuple[str, ...]
    ) -> None:
        """Segments and escapes make the whole longer than its parts."""

        def with_surcharge(text: str) -> int:
            return len(text) + 10 * text.count(" ")

        for limit in (20, 60, 90):
            summary = fit(texts[0], max_length=limit, unit=with_surcharge)
            assert summary.length == with_surcharge(summary.text) <= limit

    def test_no_setting_ruins_a_summary_unseen(
        self, fit: Summarizer, texts: tuple[str, ...]
    ) -> None:
        """One wrong decoding flag took the quality to nothing without a word."""
        best = fit(texts[0], max_chars=40)
        for setting in (
            {"max_expansions": 1},
            {"words_per_vertex": 1},
            {"method": "seqmap-beam", "beam_size": 1},
            {"time_limit_s": 1e-6},
        ):
            summary = fit(texts[0], max_chars=40, **setting)
            assert summary.complete
            assert 1 <= summary.length <= 40
            assert summary.score <= best.score + 1e-6
            assert summary.optimal == (abs(summary.score - best.score) < 1e-6) or summary.gap > 0
            if summary.gap < float("inf"):
                assert best.score - summary.score <= summary.gap + 1e-6

    def test_room_for_a_link(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """A cap of 240 left room for a link, with an emergency truncation at the end."""
        link = " https://example.org/a1"
        assert len(fit(texts[0], max_chars=60, suffix=link).text) <= 60
        assert fit(texts[0], max_chars=60, suffix=link).text.endswith(link)
        assert len(fit(texts[0], max_chars=60, reserve=len(link)).text) <= 60 - len(link)

    def test_the_limit_holds_beside_other_options(
        self, fit: Summarizer, texts: tuple[str, ...]
    ) -> None:
        """A length limit was ignored when a pattern was given as well."""
        summary = fit(
            texts[0],
            max_chars=45,
            required=["cracks"],
            banned=["bridge"],
            n_best=3,
            rerank="mbr",
            fill="prefer",
            prefix="x: ",
        )
        for one in listed(summary):
            assert len(one.text) <= 45
            assert "cracks" in one.text
            assert "bridge" not in one.text

    def test_the_removed_pipeline(self, tiny_model: Path, texts: tuple[str, ...]) -> None:
        """The summarization pipeline is gone from transformers."""
        summarizer = sumfit.pipeline("summarization", model=str(tiny_model))
        result = summarizer(texts[0], min_length=2, max_length=8)
        assert list(result[0]) == ["summary_text"]


class TestText:
    """Characters, unknown words, repeats and inventions."""

    def test_accents_and_case_stay(self, fit: Summarizer) -> None:
        """Lower-casing stripped accents."""
        text = "Łukasz Żółć opens the café “Étoile” in Kraków."
        assert fit(text, max_chars=80).text == text

    def test_composed_and_decomposed_are_one_text(self, fit: Summarizer) -> None:
        """NFC and NFD counted differently, and the check ran before normalisation."""
        composed, decomposed = "café " * 3, "cafe\u0301 " * 3
        one, two = fit(composed, max_chars=14), fit(decomposed, max_chars=14)
        assert one.text == two.text == "café café café"
        assert one.length == two.length == 14

    def test_no_unknown_token(self, fit: Summarizer) -> None:
        """Summaries held a literal <unk>."""
        for text in ("Zyzzyva qwxk ☃ Ωμέγα.", "A literal <unk> in data."):
            assert fit(text, max_chars=60).text == text
            short = fit(text, max_chars=20, on_error="return", on_infeasible="cut").text
            assert "<unk>" not in short or "<unk>" in text
            assert "\ufffd" not in short

    def test_the_language_never_changes(self, fit: Summarizer) -> None:
        """The language was switched to satisfy the length."""
        text = "Мост через реку закроют на ремонт до конца осени, сообщили в понедельник власти."
        summary = fit(text, max_chars=20, on_error="return", max_expansions=50)
        assert not any(letter.isascii() and letter.isalpha() for letter in summary.text)
        assert summary.text or isinstance(summary.error, InfeasibleBudgetError)

    def test_no_word_twice(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """Outputs repeated words and phrases; deleting them afterwards broke the length."""
        text = " ".join([texts[0]] * 3)
        for n_words in (4, 6, 8):
            summary = fit(text, exact_words=n_words)
            words = [word.strip(".,").lower() for word in summary.text.split()]
            content = [word for word in words if len(word) > 4]
            assert len(words) == n_words
            assert len(set(content)) == len(content)

    def test_numbers_from_the_source_alone(self, fit: Summarizer) -> None:
        """Numbers that were not in the source."""
        text = "The bridge will open on Tuesday after 14 cracks were found and 2 were mended."
        for one in listed(fit(text, max_chars=40, n_best=20, source_numbers_only=True)):
            digits = {word.strip(".,") for word in one.text.split() if word[0].isdigit()}
            assert digits <= {"14", "2"}

    def test_always_valid_utf8(self, fit: Summarizer) -> None:
        """Byte slicing made invalid strings, and JSON errors later."""
        for text in ("日本語のニュース。" * 12, "👩‍👩‍👧‍👦👍🏽🇫🇷" * 12):
            for limit in range(1, 24):
                summary = fit(text, max_bytes=limit, on_error="return", max_expansions=50)
                json.dumps(summary.text, ensure_ascii=False).encode("utf-8")
                assert "\ufffd" not in summary.text

    def test_characters_for_chinese(self, fit: Summarizer) -> None:
        """'Words' mean nothing without spaces; characters work."""
        text = "東京の中心部で火曜日の朝、地下鉄の信号が故障した。"
        assert fit(text, max_words=1).origin == "source"
        summary = fit(text, max_chars=12, on_error="return", on_infeasible="cut")
        assert len(summary.text) <= 12


class TestInputs:
    """Empty, long, strange and broken inputs."""

    def test_empty_items_keep_their_place(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """An empty item crashed the batch, or hung it when it came last."""
        summaries = fit(["", texts[0], "   ", texts[1], ""], max_chars=40)
        assert [bool(summary.text) for summary in summaries] == [False, True, False, True, False]
        assert all(isinstance(summary.error, EmptyInputError) for summary in summaries[::2])

    def test_line_separators_split_nothing(self, fit: Summarizer) -> None:
        """U+2028 and U+0085 split lines, and texts and summaries fell out of step."""
        assert fit("One\u2028two\u0085three.", max_chars=40).text == "One two three."

    def test_a_text_longer_than_the_model_reads(
        self, fit: Summarizer, texts: tuple[str, ...]
    ) -> None:
        """Long input ended in an index error."""
        summary = fit(" ".join(texts * 200), max_words=6)
        assert summary.source_truncated
        assert 1 <= summary.length <= 6

    def test_the_batch_changes_nothing(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """Output depended on batch size and padding."""
        alone = [fit(text, max_chars=40) for text in texts]
        together = fit([*texts, "word " * 500, "Hello"], max_chars=40, batch_size=3)
        for one, two in zip(alone, together, strict=False):
            assert (one.text, one.log_prob, one.words) == (two.text, two.log_prob, two.words)

    def test_a_fallback_is_marked(self, fit: Summarizer, texts: tuple[str, ...]) -> None:
        """A cap was met by a cut that nobody could see."""
        cut = fit(texts[0], max_chars=24, required=["zebra"], on_infeasible="cut")
        assert cut.text.endswith("…")
        assert cut.origin == "cut"
        assert " ".join(cut.text[:-1].split()) in texts[0]
