"""Trustworthy numbers: overlap, fidelity, novelty, judging, and the tables that show them.

Owns every measure of a finished summary. Does not own how summaries are made: nothing here knows
a model, so any system's output can be scored. Import from the module that owns a name:

* `rouge`: `rouge`, `rouge_items`, `compare_rouge`, `RougeOptions`;
* `significance`: `bootstrap_interval`, `paired_bootstrap`; `signature`: `Signature`;
* `fidelity`: limits, endings, repetition, names and numbers; `novelty`, `alignment`;
* `judge`, `endpoint`: pairwise judging; `baselines`: the lead, and a model told the limit;
* `report`, `table`, `files`: what ``sumfit evaluate`` does; `paper`: the paper's figures;
* `tuning`: the choice of a length bonus.
"""
