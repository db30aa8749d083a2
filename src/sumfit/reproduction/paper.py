"""The figures of the paper's tables, so that ours can stand beside them.

Huang et al. 2024, "A Decoding Algorithm for Length-Control Summarization Based on Directed Acyclic
Transformers", Findings of EMNLP 2024. Owns numbers and row names, nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ABLATIONS", "GIGAWORD", "JUDGED", "NOVELTY", "PaperRow", "SPEED", "TABLES", "DUC"]


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row of a table of overlap scores.

    Attributes:
        rouge: R-1, R-2, R-L and R-Sum.
        truncated: Percent of summaries that had to be cut; ``None`` where not given.
        length: Mean length in words; ``None`` where not given.
    """

    rouge: tuple[float, float, float, float]
    truncated: float | None = None
    length: float | None = None


TABLES: dict[str, str] = {
    "table1": "Gigaword at 20, 25 and 30 % of the source length, seven systems",
    "table2": "DUC 2004 at 20 %",
    "table4": "pairwise judging by a language model",
    "table5": "word novelty and reordering degree",
    "table6": "inference speed, one text at a time",
    "table7": "beam size K of SeqMAP, V = 5",
    "table8": "words explored V of SeqMAP, K = 20",
    "table9": "parts of the neural reranker",
}
"""Name and subject of every table of results; Table 3 is the prompt of Table 4."""

AT, LENINFO, CRF = "AT w/ Truncate", "AT-LenInfo w/ Truncate", "BERT-CRF w/ Truncate"
CTC, PATHMAP = "CTC Length Control", "DAT PathMAP"
SEQMAP, NO_RERANKER = "DAT SeqMAP w/ Reranker", "DAT SeqMAP w/o Reranker"

GIGAWORD: Mapping[float, Mapping[str, PaperRow]] = {
    0.20: {
        AT: PaperRow((33.16, 15.02, 30.91, 79.09), 60.28, 6.1),
        LENINFO: PaperRow((33.53, 14.32, 31.21, 79.06), 1.03, 5.7),
        CRF: PaperRow((31.94, 13.67, 30.09, 75.70), 39.98, 5.8),
        CTC: PaperRow((34.14, 13.61, 31.96, 79.71), 0.0, 6.9),
        PATHMAP: PaperRow((35.19, 16.95, 32.84, 84.98), 0.0, 6.9),
        SEQMAP: PaperRow((36.34, 17.29, 33.81, 87.44), 0.0, 6.9),
        NO_RERANKER: PaperRow((35.63, 17.24, 33.28, 86.15), 0.0, 6.8),
    },
    0.25: {
        AT: PaperRow((34.52, 15.78, 31.90, 82.20), 33.52, 6.8),
        LENINFO: PaperRow((35.12, 16.19, 32.60, 83.91), 1.54, 7.3),
        CRF: PaperRow((32.85, 14.23, 30.86, 77.94), 18.93, 6.2),
        CTC: PaperRow((34.51, 13.89, 32.08, 80.48), 0.0, 8.5),
        PATHMAP: PaperRow((36.11, 17.43, 33.41, 86.95), 0.0, 8.5),
        SEQMAP: PaperRow((36.74, 17.22, 33.87, 87.83), 0.0, 8.4),
        NO_RERANKER: PaperRow((36.30, 17.40, 33.64, 87.34), 0.0, 8.4),
    },
    0.30: {
        AT: PaperRow((35.07, 16.00, 32.35, 83.42), 20.04, 7.1),
        LENINFO: PaperRow((35.29, 16.15, 32.44, 83.88), 4.66, 8.8),
        CRF: PaperRow((33.08, 14.44, 31.08, 78.60), 9.65, 6.4),
        CTC: PaperRow((34.04, 13.63, 31.49, 79.16), 0.0, 10.0),
        PATHMAP: PaperRow((35.57, 16.65, 32.88, 85.10), 0.0, 9.9),
        SEQMAP: PaperRow((36.24, 16.74, 33.34, 86.32), 0.0, 9.9),
        NO_RERANKER: PaperRow((35.80, 16.76, 33.04, 85.60), 0.0, 9.9),
    },
}
"""Table 1, by ratio."""

DUC: Mapping[str, PaperRow] = {
    AT: PaperRow((27.03, 8.92, 24.20, 60.15)),
    LENINFO: PaperRow((27.88, 9.28, 25.58, 62.74)),
    CRF: PaperRow((23.69, 7.16, 21.64, 52.49)),
    CTC: PaperRow((28.67, 8.29, 26.34, 63.30)),
    PATHMAP: PaperRow((28.77, 9.98, 26.48, 65.23)),
    SEQMAP: PaperRow((30.11, 10.29, 27.22, 67.62)),
    NO_RERANKER: PaperRow((29.17, 10.27, 26.66, 66.10)),
}
"""Table 2."""

JUDGED: Mapping[str, tuple[float, float, float]] = {
    AT: (68.70, 0.0, 31.30),
    LENINFO: (69.45, 0.0, 30.55),
    CTC: (72.40, 20.00, 7.60),
    PATHMAP: (43.77, 32.04, 24.18),
}
"""Table 4: win, loss and tie of SeqMAP against each system, in percent."""

NOVELTY: Mapping[str, tuple[float, float]] = {
    CTC: (18.41, 8.69),
    PATHMAP: (21.80, 9.09),
    SEQMAP: (22.48, 9.01),
    "Human Reference": (50.51, 8.05),
}
"""Table 5: word novelty and reordering degree, in percent."""

SPEED: Mapping[str, tuple[float, float]] = {
    AT: (10.59, 90.99),
    CTC: (25.61, 219.71),
    PATHMAP: (61.30, 520.64),
    SEQMAP: (10.97, 104.08),
    NO_RERANKER: (20.75, 177.00),
}
"""Table 6: sentences and words a second."""

ABLATIONS: Mapping[str, Mapping[str, PaperRow]] = {
    "table7": {
        PATHMAP: PaperRow((36.11, 17.43, 33.41, 86.95)),
        f"{NO_RERANKER}, K=10": PaperRow((36.27, 17.30, 33.58, 87.15)),
        f"{NO_RERANKER}, K=15": PaperRow((36.27, 17.34, 33.59, 87.20)),
        f"{NO_RERANKER}, K=20": PaperRow((36.30, 17.40, 33.64, 87.34)),
        f"{NO_RERANKER}, K=25": PaperRow((36.27, 17.36, 33.60, 87.23)),
        f"{SEQMAP}, K=10": PaperRow((36.61, 17.27, 33.80, 87.68)),
        f"{SEQMAP}, K=15": PaperRow((36.65, 17.41, 33.80, 87.86)),
        f"{SEQMAP}, K=20": PaperRow((36.74, 17.22, 33.87, 87.83)),
        f"{SEQMAP}, K=25": PaperRow((36.74, 17.32, 33.87, 87.93)),
    },
    "table8": {
        PATHMAP: PaperRow((36.11, 17.43, 33.41, 86.95)),
        f"{NO_RERANKER}, V=1": PaperRow((36.23, 17.37, 33.59, 87.19)),
        f"{NO_RERANKER}, V=3": PaperRow((36.24, 17.34, 33.58, 87.16)),
        f"{NO_RERANKER}, V=5": PaperRow((36.30, 17.40, 33.64, 87.34)),
        f"{NO_RERANKER}, V=7": PaperRow((36.24, 17.34, 33.59, 87.17)),
        f"{NO_RERANKER}, V=9": PaperRow((36.24, 17.34, 33.59, 87.17)),
        f"{SEQMAP}, V=1": PaperRow((36.45, 16.92, 33.62, 86.99)),
        f"{SEQMAP}, V=3": PaperRow((36.73, 17.16, 33.84, 87.73)),
        f"{SEQMAP}, V=5": PaperRow((36.74, 17.22, 33.87, 87.83)),
        f"{SEQMAP}, V=7": PaperRow((36.74, 17.20, 33.85, 87.79)),
        f"{SEQMAP}, V=9": PaperRow((36.74, 17.18, 33.85, 87.77)),
    },
    "table9": {
        "all parts": PaperRow((36.61, 17.27, 33.80, 87.68)),
        "no label smoothing": PaperRow((36.50, 17.18, 33.73, 87.41)),
        "no rank embedding": PaperRow((36.23, 17.28, 33.57, 87.08)),
        "no pretraining": PaperRow((36.38, 17.34, 33.68, 87.41)),
    },
}
"""Tables 7, 8 and 9, all at 25 %."""
