"""Several processes, and a process killed in the middle, as users meet them."""

from __future__ import annotations

import shutil
import signal
import time

import pytest

from .conftest import free_port, read_metrics, start_training

CURVE = ("step", "loss", "nll", "grad_norm", "lr", "pairs", "epoch", "pairs_seen")


def curve(output):
    return [[record[name] for name in CURVE] for record in read_metrics(output)]


def assert_same_curve(one, two, *, rel):
    assert len(one) == len(two)
    for first, second in zip(one, two, strict=True):
        assert first == pytest.approx(second, rel=rel)


def test_two_processes_train_as_one_that_accumulates(tiny_recipe, tmp_path):
    port = free_port()
    words = ["run.max_steps=6", "run.save_every=0", "loss.denoise_share=0.3"]
    alone = start_training(
        tiny_recipe, f"output_dir={tmp_path / 'one'}", "run.accumulate=2", *words
    )
    pair = [
        start_training(
            tiny_recipe, f"output_dir={tmp_path / 'two'}", *words, rank=rank, size=2, port=port
        )
        for rank in range(2)
    ]
    for process in (alone, *pair):
        out, _ = process.communicate(timeout=400)
        assert process.returncode == 0, out
    assert len(curve(tmp_path / "one")) == 3
    assert_same_curve(curve(tmp_path / "one"), curve(tmp_path / "two"), rel=1e-4)
    valid = [read_metrics(tmp_path / name, "valid")[-1]["loss"] for name in ("one", "two")]
    assert valid[0] == pytest.approx(valid[1], rel=1e-4)


def kill_at_first_checkpoint(recipe, output):
    process = start_training(recipe, f"output_dir={output}")
    deadline = time.monotonic() + 400
    while not (output / "checkpoint-00000004").exists():
        assert time.monotonic() < deadline, "no checkpoint appeared"
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_killed_run_resumes_on_the_same_curve(tiny_recipe, tmp_path):
    whole = start_training(tiny_recipe, f"output_dir={tmp_path / 'whole'}")
    for _ in range(5):  # where the machine is busy, a run may be over before it is killed
        shutil.rmtree(tmp_path / "cut", ignore_errors=True)
        kill_at_first_checkpoint(tiny_recipe, tmp_path / "cut")
        if not (tmp_path / "cut" / "checkpoint-00000012").exists():
            break
    assert not (tmp_path / "cut" / "checkpoint-00000012").exists()
    resumed = start_training(tiny_recipe, f"output_dir={tmp_path / 'cut'}", "--resume")
    for process in (whole, resumed):
        out, _ = process.communicate(timeout=400)
        assert process.returncode == 0, out
    by_step = {record["step"]: record for record in read_metrics(tmp_path / "cut")}
    again = [[by_step[step][name] for name in CURVE] for step in sorted(by_step)]
    assert_same_curve(curve(tmp_path / "whole"), again, rel=1e-6)
    whole_weights = (tmp_path / "whole" / "checkpoint-00000012" / "model.safetensors").read_bytes()
    cut_weights = (tmp_path / "cut" / "checkpoint-00000012" / "model.safetensors").read_bytes()
    assert whole_weights == cut_weights


def test_two_processes_that_are_stopped_end_at_the_same_step(tiny_recipe, tmp_path):
    """Mostly in a validation: neither may wait for the other in a sum that it never comes to."""
    port = free_port()
    words = [f"output_dir={tmp_path}", "run.max_steps=100000", "run.validate_every=1"]
    pair = [
        start_training(tiny_recipe, *words, "run.save_every=0", rank=rank, size=2, port=port)
        for rank in range(2)
    ]
    deadline = time.monotonic() + 400
    while not (tmp_path / "metrics.jsonl").exists() or len(read_metrics(tmp_path, "valid")) < 2:
        assert time.monotonic() < deadline, "no validation was made"
        assert all(process.poll() is None for process in pair), pair[0].communicate()[0]
        time.sleep(0.005)
    for process in pair:
        process.send_signal(signal.SIGINT)
    said = [process.communicate(timeout=100)[0] for process in pair]
    assert [process.returncode for process in pair] == [0, 0], said
    assert "stopped: interrupted at step" in said[0]
    assert len(list(tmp_path.glob("checkpoint-*"))) == 1
