"""The constants of exact search that measurements have set, in one place.

Owns `SearchTuning` and the one that is used. None of them changes what is found, only how soon and
whether it is proved. Constants of arithmetic stay where they are used.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SEARCH", "SearchTuning"]


@dataclass(frozen=True, slots=True)
class SearchTuning:
    """When exact search goes on, starts again or gives up.

    ``benchmarks/decoding/bench_seqmap.py --texts`` measures all of them; the figures that chose a
    value are in ``docs/decisions``, whose page is named.

    Attributes:
        tolerance: Nats within which two scores count as equal.
        first_rows: Prefixes that fit before the arrays grow, four times each time.
        steps_between_looks: Expansions between two looks at the clock.
        beam_steps_between_looks: Prefixes of a beam between two looks at the clock.
        expansions_before_giving_up: Expansions before a search that can prove nothing more ends
            (0031).
        following_share: One part in so many of all expansions and seconds is left to searches that
            follow words out of the candidates (0094).
        remembered_groups: Answers that are kept on groups of such words.
        least_before_tightening: Least expansions before a search that repeats words gets a tighter
            bound (0031).
        bounds_an_expansion: Bounds per context that take as long to fill as one expansion (0094).
        bounds_a_followed_expansion: The same where it also follows words out of the candidates.
        patience_without_table: Times as many expansions where no tighter bound follows (0094).
        words_at_once: Words added at a time to those that the bound counts once.
        most_words: Most words that the bound counts once; each doubles it.
        most_bounds: Most bounds per context in a table that counts some words once.
        most_required: Required phrases that the bound knows of; the search checks them all.
        negligible: Probabilities below this share of the best at their vertex, over the number of
            vertices, enter the bound through the padding vector that stands for the largest of
            them, so that the paddings of all steps add up to about as much in a large graph.
            Searched sequences always get theirs (0094).
        negligible_once: The same in a table that counts some words once and has to be tight.
        dives: Quick descents where a limit comes before the first finished sequence.
        dive_share: One expansion in so many is kept for them while nothing is finished.
        most_dived: Most expansions that they may use.
        least_dived: Expansions that the first of them may use whatever the limits say.
        path_beam_share: One expansion and second in so many is kept, in the search for lists of
            paths, for a beam where nothing is found.
        least_path_beam: Prefixes that this beam may expand whatever the limits say.
    """

    tolerance: float = 1e-9
    first_rows: int = 64
    steps_between_looks: int = 128
    beam_steps_between_looks: int = 32
    expansions_before_giving_up: int = 24
    following_share: int = 3
    remembered_groups: int = 1021
    least_before_tightening: int = 100
    bounds_an_expansion: int = 15
    bounds_a_followed_expansion: int = 20
    patience_without_table: int = 3
    words_at_once: int = 2
    most_words: int = 6
    most_bounds: int = 300_000
    most_required: int = 4
    negligible: float = 2.0
    negligible_once: float = 1.0
    dives: int = 8
    dive_share: int = 4
    most_dived: int = 2_000
    least_dived: int = 400
    path_beam_share: int = 4
    least_path_beam: int = 200


SEARCH = SearchTuning()
"""What every search uses; modules read it when they search, so that tests can set another."""
