"""Calls that a type checker must refuse, each of them; never run."""

from __future__ import annotations

from sumfit import Summarizer


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
    fit.summarize("a", presets="push")  # wrong
    fit.inspect("a", max_chars=3, on_infeasible="skip")  # wrong
    fit.graph("a", profil="natural")  # wrong
    Summarizer.from_pretrained(backend="tensorflow")  # wrong
