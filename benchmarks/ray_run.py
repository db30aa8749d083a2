"""A long file job on Ray with a worker killed midway: nothing lost, doubled or over the limit.

    python benchmarks/ray_run.py [--texts FILE] [--n 20000] [--max-chars 60] [--processes 2]
                                 [--kill-at 0.5 ...] [--engine ray] [--model DIR] [--folder DIR]
                                 [--rerank none] [--price 0.04] [--json FILE]

The texts of FILE (lines, or JSONL with ``source`` or ``text``, also .gz, .xz; the news examples of
this repository without one) are repeated up to ``--n``, each record with an id of its own, and
given to ``sumfit summarize --engine ray``, the command itself, in a process of its own. When
``--kill-at`` of the parts are finished, the worker that has worked most gets SIGKILL. A million
texts are the same command with ``--n 1000000``; an unfinished run is gone on with by ``--folder``.

Then every record of the output is looked at: each id once and in order, its text as it was, the
summary's length measured again and within the limit, and the same text the same summary, or the
same error, each time. Texts without a summary (too short, not English) are counted by their error.
Exits with 1 if anything is not so, or if no worker could be killed.

``core_s_per_text`` is the processor time of all processes of the job, by ``/proc``, which other
work on the machine disturbs less than the clock; core hours for a billion texts are it times 1e9
/ 3600, and the cost that times ``--price``, an assumption, for one hour of one core.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks import processes, throughput
from sumfit.jobs import JobSpec
from sumfit.length import measure

BILLION = 1_000_000_000
_WORKERS = {"ray": ("ray::", "SummarizeChunks"), "local": ("sumfit.jobs.worker",)}
_LOOK_S = 0.5  # between two looks at the job
_EXAMPLES = 5


def records(texts: Sequence[str], n: int) -> Iterator[dict[str, Any]]:
    """Records of a job: the texts again and again, each with an id of its own.

    Args:
        texts: The texts.
        n: How many records.

    Yields:
        ``id``, from 0, and ``text``.
    """
    for number, text in enumerate(itertools.islice(itertools.cycle(texts), n)):
        yield {"id": number, "text": text}


@dataclass
class Faults:
    """What is wrong with an output.

    Attributes:
        counts: By kind: ``lost``, ``doubled``, ``order``, ``text``, ``limit``, ``differs``.
        examples: The first of them.
        without: Records without a summary, by the type of their error; no fault.
        n_texts: Different texts.
    """

    counts: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    n_texts: int = 0

    def add(self, kind: str, what: str) -> None:
        """Count one.

        Args:
            kind: Which.
            what: Of which record.
        """
        self.counts[kind] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(f"{kind}: {what}")


def check(
    given: Iterable[Mapping[str, Any]], found: Iterable[Mapping[str, Any]], limit: int
) -> Faults:
    """Compare an output with its input, by id.

    Args:
        given: Records of the input.
        found: Records of the output.
        limit: Characters.

    Returns:
        What is wrong, nothing if all is right.
    """
    faults = Faults()
    texts = {record["id"]: record["text"] for record in given}
    seen: set[int] = set()
    first: dict[str, Any] = {}
    before = -1
    for record in found:
        number, summary = record["id"], record["summary"]
        if number in seen:
            faults.add("doubled", f"id {number}")
            continue
        seen.add(number)
        if number < before:
            faults.add("order", f"id {number} after {before}")
        before = number
        if record["text"] != texts.get(number):
            faults.add("text", f"id {number}")
        if not summary:
            faults.without[record["summary_error_type"]] += 1
        elif measure(summary, "chars") > limit:
            faults.add("limit", f"id {number}: {summary!r}")
        answer = (summary, record["summary_error_type"])
        if first.setdefault(record["text"], answer) != answer:
            faults.add("differs", f"id {number}: {answer}")
    for number in sorted(texts.keys() - seen):
        faults.add("lost", f"id {number}")
    faults.n_texts = len(first)
    return faults


def cost(core_s: float, price: float) -> dict[str, float]:
    """What a billion texts take.

    Args:
        core_s: Processor seconds for a text.
        price: Of one hour of one core.

    Returns:
        Core hours, and money.
    """
    hours = core_s * BILLION / 3600
    return {"core_hours_per_billion": hours, "price_per_billion": hours * price}


@dataclass
class Watch:
    """Looks at a running job, adds up its processor time, and kills a worker when it is time.

    Attributes:
        root: Number of the job's process.
        engine: ``"ray"`` or ``"local"``.
        parts: Folder of finished parts.
        n_parts: Parts of the job.
        moments: Shares of finished parts at which a worker is killed, ascending.
        seconds: Processor time by process, those included that are gone.
        killed: Number of each killed process, with the share finished by then.
        most_workers: Most workers seen at once.
    """

    root: int
    engine: str
    parts: Path
    n_parts: int
    moments: list[float]
    seconds: dict[int, float] = field(default_factory=dict)
    killed: list[tuple[int, float]] = field(default_factory=list)
    most_workers: int = 0

    def look(self) -> None:
        """Look once."""
        tree = processes.descendants(self.root, processes.snapshot())
        self.seconds |= {one.pid: one.seconds for one in tree}
        workers = [one for one in tree if is_worker(processes.command_line(one.pid), self.engine)]
        self.most_workers = max(self.most_workers, len(workers))
        if self.moments and workers:
            share = len(list(self.parts.glob("[0-9]*.jsonl"))) / self.n_parts
            if self.moments[0] <= share < 1:
                victim = max(workers, key=lambda one: one.ticks).pid
                os.kill(victim, signal.SIGKILL)
                self.killed.append((victim, share))
                self.moments.pop(0)


def is_worker(command: str, engine: str) -> bool:
    """Whether a process holds a model and summarises.

    Args:
        command: Its command line.
        engine: ``"ray"`` or ``"local"``.

    Returns:
        As its title or module says.
    """
    return all(part in command for part in _WORKERS[engine])


def run(
    texts: Sequence[str], options: argparse.Namespace, folder: Path
) -> tuple[dict[str, Any], Faults]:
    """Run the job, kill, check.

    Args:
        texts: The texts.
        options: The command line.
        folder: Where input and output lie.

    Returns:
        Figures, and what is wrong.

    Raises:
        SystemExit: If the command itself fails.
    """
    source, target = folder / "in.jsonl", folder / "out.jsonl"
    with source.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records(texts, options.n))
    command = [sys.executable, "-m", "sumfit", "summarize", str(source), "-o", str(target)]
    command += ["--max-chars", str(options.max_chars), "--engine", options.engine]
    command += ["--processes", str(options.processes), "--field", "text", "--overwrite"]
    if options.model:
        command += ["--model", str(options.model)]
    if options.rerank:
        command += ["--rerank", options.rerank]
    busy, started = processes.Busy(), time.perf_counter()
    log = folder / "job.log"
    with log.open("w", encoding="utf-8") as errors, subprocess.Popen(command, stderr=errors) as job:
        n_parts = -(-options.n // JobSpec.__dataclass_fields__["chunk_size"].default)
        parts = target.with_name(target.name + ".job")
        watch = Watch(job.pid, options.engine, parts, n_parts, sorted(options.kill_at))
        while job.poll() is None:
            watch.look()
            time.sleep(_LOOK_S)
    seconds = time.perf_counter() - started
    if job.returncode:
        said = log.read_text(encoding="utf-8", errors="replace")
        raise SystemExit(f"the job ended with {job.returncode}: {said[-2000:]}")
    with target.open(encoding="utf-8") as file:
        faults = check(records(texts, options.n), map(json.loads, file), options.max_chars)
    core_s = sum(watch.seconds.values()) / options.n
    figures = {
        "engine": options.engine,
        "n_texts": options.n,
        "n_different_texts": faults.n_texts,
        "processes": options.processes,
        "rerank": options.rerank or "the default",
        "most_workers": watch.most_workers,
        "killed": [f"process {pid} at {share:.0%}" for pid, share in watch.killed],
        "faults": dict(faults.counts),
        "without_summary": dict(faults.without),
        "examples": faults.examples,
        "seconds": seconds,
        "texts_per_s": options.n / seconds,
        "core_s_per_text": core_s,
        **cost(core_s, options.price),
        "price_of_core_hour": options.price,
        "machine": busy.line(watch.seconds),
    }
    return figures, faults


def read_options(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line.

    Args:
        argv: Arguments; those of the process if not given.

    Returns:
        Options.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--texts", default=None)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--max-chars", type=int, default=60)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kill-at", type=float, nargs="*", default=[0.5], help="shares finished")
    parser.add_argument("--engine", choices=list(_WORKERS), default="ray")
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--rerank", default=None, help="as the command takes it")
    parser.add_argument("--folder", type=Path, default=None, help="kept; else a temporary one")
    parser.add_argument("--price", type=float, default=0.04, help="of an hour of a core")
    parser.add_argument("--json", type=Path, default=None)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line.

    Args:
        argv: Arguments; those of the process if not given.

    Returns:
        1 if anything is wrong.
    """
    options = read_options(argv)
    if not Path("/proc/stat").exists():
        raise SystemExit("this benchmark finds the worker to kill in /proc; run it on Linux")
    texts = throughput.load_texts(options.texts, options.n)
    wanted = len(options.kill_at)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        figures, faults = run(texts, options, folder)
    for name, value in figures.items():
        print(f"{name:<24} {round(value, 4) if isinstance(value, float) else value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(bool(faults.counts) or len(figures["killed"]) < wanted)


if __name__ == "__main__":
    sys.exit(main())
