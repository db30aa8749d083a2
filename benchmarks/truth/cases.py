"""The cases of the truth benchmark, and whether a summary passes one.

Owns the reading of ``cases.jsonl`` and the verdict. The verdict is made of patterns of each case
and two rules for all; it shares no code with `sumfit.truth`, which it is to measure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CASES", "Case", "read_cases"]

CASES = Path(__file__).with_name("cases.jsonl")

_NAMED = {
    "denied": r"\b(?:no|not|none|nobody|never|neither|nor|without|cannot|\w+n't|un\w+|fail\w*"
    r"|den(?:y|ies|ied|ial)|reject\w*|refus\w*|declin\w*|dismiss\w*|cancel\w*|scrap\w*|drop\w*"
    r"|lack\w*|block\w*|ban(?:s|ned)?|avoid\w*|prevent\w*|stop\w*|against|oppos\w*|rul\w+ out"
    r"|call\w* off|abandon\w*|overturn\w*|disput\w*|false|miss\w*|remov\w*|skip\w*)\b",
    "open": r"\b(?:may|might|could|would|should|can|if|unless|whether|possib\w*|likely|perhaps"
    r"|probabl\w*|alleg\w*|report\w*|claim\w*|suspect\w*|believ\w*|accus\w*|consider\w*|mull\w*"
    r"|propos\w*|plan\w*|hop\w+|aim\w*|want\w*|seek\w*|threat\w*|expect\w*|fear\w*|warn\w*|risk\w*"
    r"|suggest\w*|hint\w*|talk\w*|rumou?r\w*|say\w*|said|to|near|chance|potential\w*|ask\w*|eye\w*"
    r"|think\w*|conjectur\w*|unconfirmed|due|set)\b|\?",
    "people": r"\b(?:Sunak|Rishi|Johnson|Boris|Truss|Starmer|Trump|Biden|Obama|Putin|Zelensky\w*"
    r"|Macron|Merkel|Scholz|Modi|Trudeau|Xi|Musk|Imran|Khan|Gandhi|Bush|Clinton)\b",
    "firms": r"\b(?:Google|Apple|Amazon|Facebook|Meta|Microsoft|Netflix|Twitter|Tesla|Ford|Samsung"
    r"|Huawei|Xiaomi|Instagram|YouTube|Disney|Uber|Walmart|Sony|Nokia|Intel|Volkswagen|Toyota)\b",
    "teams": r"\b(?:Liverpool|Chelsea|Arsenal|Manchester|Tottenham|Everton|Leeds|Barcelona|Madrid"
    r"|Bayern|Juventus|England|India|Australia|Newcastle)\b",
    "events": r"\b(?:Covid\w*|Coronavirus|Omicron|Brexit|pandemic|lockdown)\b",
}
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
_COUNTS = {
    word: str(value)
    for value, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), 1
    )
}


@dataclass(frozen=True, slots=True)
class Case:
    """One text with what a summary of it may and may not say.

    Attributes:
        id: Kind and running number.
        kind: What is tested: ``negation``, ``roles`` and so on.
        genre: News, commit, mail, notice or paper.
        limit: Most characters.
        text: The text.
        never: Patterns that no summary may match.
        when: Pairs: what matches the first must match the second.
    """

    id: str
    kind: str
    genre: str
    limit: int
    text: str
    never: tuple[str, ...]
    when: tuple[tuple[str, str], ...]

    def faults(self, summary: str) -> list[str]:
        """What is wrong with a summary, in words; empty if it is right.

        Args:
            summary: The summary.

        Returns:
            One entry for each fault.
        """
        faults = [] if summary.strip() else ["empty"]
        faults += [f"says {rule}" for rule in self.never if _pattern(rule).search(summary)]
        faults += [
            f"says {said} without {needed}"
            for said, needed in self.when
            if _pattern(said).search(summary) and not _pattern(needed).search(summary)
        ]
        faults += [f"number {number}" for number in self._new_numbers(summary)]
        faults += [f"name {name}" for name in self._new_names(summary)]
        return faults

    def _new_numbers(self, summary: str) -> Iterator[str]:
        known = {_plain(number) for number in _DIGITS.findall(self.text)}
        known |= {_COUNTS[word] for word in self.text.lower().split() if word in _COUNTS}
        for number in _DIGITS.findall(summary):
            if _plain(number) not in known:
                yield number

    def _new_names(self, summary: str) -> Iterator[str]:
        known = {word.lower() for word in _WORD.findall(self.text)}
        for match in list(_WORD.finditer(summary))[1:]:
            before = summary[: match.start()].rstrip(" '\"“‘")
            if match[0][0].isupper() and match[0].lower() not in known and before[-1] not in ":.?!":
                if match[0].lower() not in ("pm", "mp", "mps", "ceo"):
                    yield match[0]


def read_cases(path: Path = CASES) -> list[Case]:
    """Read the cases.

    Args:
        path: JSON lines.

    Returns:
        The cases, in their order.
    """
    cases = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        cases.append(
            Case(
                **{name: record[name] for name in ("id", "kind", "genre", "limit", "text")},
                never=tuple(record["never"]),
                when=tuple((pair["says"], pair["needs"]) for pair in record["when"]),
            )
        )
    return cases


def _pattern(rule: str) -> re.Pattern[str]:
    for name, pattern in _NAMED.items():
        rule = rule.replace(f"<{name}>", pattern)
    return re.compile(rule, re.IGNORECASE)


def _plain(number: str) -> str:
    return number.replace(",", "")
