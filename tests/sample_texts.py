"""Texts written for the tests, and a tokenizer trained on them in a moment."""

from __future__ import annotations

from functools import lru_cache

from sumfit.text import Tokenizer

__all__ = ["SAMPLE_TEXTS", "tiny_tokenizer"]

SAMPLE_TEXTS = (
    "The city council voted on Monday to rebuild the old harbour bridge, which has been closed "
    "since a storm damaged two of its pillars in March. Work is to begin in autumn.",
    "Heavy rain is expected across the north on Tuesday, forecasters said, with up to 80 "
    "millimetres in some valleys; rail services may be delayed until Wednesday.",
    "The company said its profits rose 12 percent in the third quarter, helped by strong sales "
    "of electric vans. It doesn't expect the pace to last, the chairman said.",
    "Le café « Chez Zoé » rouvre à l'été : Łukasz, naïf et déçu, n'y croyait plus.",
    "Совет города решил восстановить старый мост. Работы начнутся осенью.",
    "市議会は古い橋の再建を決めた。工事は秋に始まる。",
    "서울시는 오래된 다리를 다시 짓기로 했다.",
    "वर्षा के कारण रेल सेवा में देरी होगी।",
    "المجلس يقرر إعادة بناء الجسر القديم",
    "Team 👩\u200d👩\u200d👧\u200d👦 says hi 👍🏽 from 🇫🇷 and 🇩🇪 at 10:30, "
    "I'm told; it's “fine” — really…",
    "mm: avoid a double free in the slab cache when a cpu goes offline (fixes #1234)",
)


@lru_cache(maxsize=1)
def tiny_tokenizer() -> Tokenizer:
    """A tokenizer with 560 pieces: whole words, parts of words, characters, stray bytes."""
    return Tokenizer.train(SAMPLE_TEXTS * 2, vocab_size=560)
