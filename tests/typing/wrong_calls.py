"""Calls that a type checker must refuse, each of them; never run."""

from __future__ import annotations

import sumfit
from sumfit import Summarizer
from sumfit.pipeline import SummarizationPipeline


def wrong(fit: Summarizer) -> None:
    fit("a", max_char=3)  # wrong
    fit("a", max_chars="3")  # wrong
    fit("a", fill="fill")  # wrong
    fit("a", preset="nope")  # wrong
    fit("a", max_length=3, unit="inch")  # wrong
    fit("a", max_chars=3, style="poem")  # wrong
    fit("a", max_chars=3, method="best")  # wrong
    fit("a", max_chars=3, banned=3)  # wrong
    fit(3, max_chars=3)  # wrong
    fit(["a"], max_char=3)  # wrong
    str(fit("a", max_chars=3).txt)  # wrong
    str(fit(["a"], max_chars=3).text)  # wrong
    fit.stream(["a"], max_char=3)  # wrong
    fit.astream(["a"], max_char=3)  # wrong
    fit.summarize("a", presets="push")  # wrong
    fit.inspect("a", max_chars=3, on_infeasible="skip")  # wrong
    fit.graph("a", profil="natural")  # wrong
    Summarizer.from_pretrained(backend="tensorflow")  # wrong


def wrong_drop_in(summarizer: SummarizationPipeline) -> None:
    sumfit.pipeline(3)  # wrong
    sumfit.pipeline("summarization", max_lenght=3)  # wrong
    sumfit.pipeline("summarization", device=1.5)  # wrong
    summarizer("a", max_lenght=3)  # wrong
    summarizer("a", max_length="3")  # wrong
    summarizer(3, max_length=3)  # wrong
    str(summarizer("a", max_length=3)["summary_text"])  # wrong
    str(summarizer("a", max_length=3)[0]["summary"])  # wrong
