from __future__ import annotations

import json
import re
import shutil
import signal
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from sumfit.errors import ConfigError, IncompatibleModelError, ModelFormatError, TrainingError
from sumfit.models import DAT
from sumfit.models.checkpoint import load_network
from sumfit.runtime.directory import ModelDirectory
from sumfit.training import checkpoints, export_model, load_recipe, train
from sumfit.training.checkpoints import latest
from sumfit.training.heartbeat import Heartbeat
from sumfit.training.loop import Trainer
from sumfit.training.systems import dat as dat_system
from sumfit.training.systems import get_system
from sumfit.training.validation import Validator

from .conftest import read_metrics, start_training


def run(tiny_recipe, output, *words, **options):
    recipe = load_recipe(tiny_recipe, [f"output_dir={output}", *words])
    return train(recipe, device="cpu", **options)


def test_a_run_writes_metrics_checkpoints_and_the_best_model(tiny_recipe, tmp_path):
    seen = []
    result = run(
        tiny_recipe, tmp_path, "run.validate_every=6", "run.keep_last=2", on_progress=seen.append
    )
    assert result.reason == "max_steps"
    assert result.step == 12
    assert result.checkpoint == latest(tmp_path) == tmp_path / "checkpoint-00000012"
    assert result.best == tmp_path / "best"
    assert not (tmp_path / "best" / "training.safetensors").exists()
    assert len(list(tmp_path.glob("checkpoint-*"))) == 2
    records = read_metrics(tmp_path)
    assert [record["step"] for record in records] == [2, 4, 6, 8, 10, 12]
    assert records[-1]["nll"] < records[0]["nll"] - 0.1
    assert records[-1]["pairs_seen"] == sum(record["pairs"] for record in records)
    valid = read_metrics(tmp_path, "valid")
    assert [record["step"] for record in valid] == [6, 12]
    assert result.scores["loss"] == pytest.approx(valid[-1]["loss"], rel=1e-5)
    assert valid[1]["loss"] < valid[0]["loss"]
    assert list((tmp_path / "tensorboard").iterdir())
    assert [progress.step for progress in seen] == [2, 4, 6, 8, 10, 12]
    assert seen[-1].share == 1.0
    assert seen[-1].left_s == 0.0


def test_the_best_model_holds_the_averaged_weights(tiny_recipe, tmp_path):
    run(tiny_recipe, tmp_path)
    best = load_file(tmp_path / "best" / "model.safetensors")
    training = load_file(tmp_path / "checkpoint-00000012" / "training.safetensors")
    for name, value in best.items():
        assert torch.equal(value, training[f"ema.{name}"]), name


def test_checkpoints_in_the_way_are_not_overwritten(tiny_recipe, tmp_path):
    run(tiny_recipe, tmp_path, "run.max_steps=2")
    with pytest.raises(ConfigError, match="already holds checkpoints; pass --resume to go on"):
        run(tiny_recipe, tmp_path, "run.max_steps=2")
    again = run(tiny_recipe, tmp_path, "run.max_steps=3", resume=True)
    assert again.step == 3


def cut(file):
    file.write_bytes(file.read_bytes()[:-9])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("file", "damage", "reason"),
    [
        ("model.safetensors", cut, r"model\.safetensors is damaged \("),
        ("model.safetensors", Path.unlink, r"model\.safetensors is not there"),
        ("training.safetensors", cut, "cannot be resumed from: "),
        ("model.safetensors", flip, r"model\.safetensors is not as it was written"),
        ("training.safetensors", flip, r"training\.safetensors is not as it was written"),
        ("training.json", Path.unlink, r"cannot be resumed from: .*training\.json"),
        ("config.json", cut, r"config\.json is damaged \("),
    ],
)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(
    tiny_recipe, tmp_path, caplog, file, damage, reason
):
    run(tiny_recipe, tmp_path, "run.max_steps=3", "run.save_every=2", "run.keep_last=2")
    damage(tmp_path / "checkpoint-00000003" / file)
    caplog.set_level("INFO")
    again = run(tiny_recipe, tmp_path, "run.max_steps=4", resume=True)
    assert again.step == 4
    (warning,) = [r.getMessage() for r in caplog.records if "is damaged, going on" in r.msg]
    assert re.search(f"checkpoint-00000003 is damaged, going on from an earlier.*{reason}", warning)
    assert re.search(r"resuming from .*checkpoint-00000002\n", caplog.text)


def test_steps_done_again_stand_in_the_metrics_once(tiny_recipe, tmp_path):
    run(tiny_recipe, tmp_path, "run.max_steps=6", "run.log_every=1", "run.save_every=3")
    shutil.rmtree(tmp_path / "checkpoint-00000006")  # as if killed after step 5 was logged
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "train", "st')
    before = (tmp_path / "metrics.jsonl").read_text().splitlines()[:3]
    run(tiny_recipe, tmp_path, "run.max_steps=6", "run.log_every=1", resume=True)
    assert [record["step"] for record in read_metrics(tmp_path)] == [1, 2, 3, 4, 5, 6]
    assert [record["step"] for record in read_metrics(tmp_path, "valid")] == [6]
    assert (tmp_path / "metrics.jsonl").read_text().splitlines()[:3] == before
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_passing_over_a_damaged_checkpoint_is_resuming_without_it(tiny_recipe, tmp_path):
    run(tiny_recipe, tmp_path / "mended", "run.max_steps=4", "run.save_every=2")
    shutil.copytree(tmp_path / "mended", tmp_path / "whole")
    shutil.rmtree(tmp_path / "whole" / "checkpoint-00000004")
    cut(tmp_path / "mended" / "checkpoint-00000004" / "training.safetensors")
    for name in ("whole", "mended"):
        run(tiny_recipe, tmp_path / name, "run.max_steps=6", resume=True)
    whole, mended = (
        load_file(tmp_path / name / "checkpoint-00000006" / "model.safetensors")
        for name in ("whole", "mended")
    )
    for name, value in whole.items():
        assert torch.equal(value, mended[name]), name


def test_a_damaged_checkpoint_is_not_kept_in_place_of_an_intact_one(tiny_recipe, tmp_path):
    words = ["run.save_every=2", "run.keep_last=1"]
    run(tiny_recipe, tmp_path, "run.max_steps=2", *words)
    shutil.copytree(tmp_path / "checkpoint-00000002", tmp_path / "checkpoint-00000007")
    cut(tmp_path / "checkpoint-00000007" / "model.safetensors")
    run(tiny_recipe, tmp_path, "run.max_steps=4", *words, resume=True)
    assert [folder.name[-1] for folder in checkpoints.folders(tmp_path)] == ["4", "7"]
    run(tiny_recipe, tmp_path, "run.max_steps=8", *words, resume=True)
    assert [folder.name[-1] for folder in checkpoints.folders(tmp_path)] == ["7", "8"]


def test_without_an_intact_checkpoint_all_are_named(tiny_recipe, tmp_path):
    run(tiny_recipe, tmp_path, "run.max_steps=3", "run.save_every=2")
    cut(tmp_path / "checkpoint-00000002" / "model.safetensors")
    (tmp_path / "checkpoint-00000003" / "training.json").unlink()
    with pytest.raises(ModelFormatError) as caught:
        run(tiny_recipe, tmp_path, resume=True)
    first, *reasons, advice = str(caught.value).splitlines()
    assert first == f"no checkpoint in {tmp_path} is intact:"
    assert re.match(r"checkpoint-00000003: .* cannot be resumed from: ", reasons[0])
    assert re.match(r"checkpoint-00000002: .*model\.safetensors is damaged", reasons[1])
    assert advice == ("put an intact copy of one back, or move them away to train from the start")


def test_resuming_another_architecture_is_refused(tiny_recipe, tmp_path):
    run(tiny_recipe, tmp_path, "run.max_steps=1")
    with pytest.raises(IncompatibleModelError, match="ffn_width is 16 there and 32 here; use the"):
        run(tiny_recipe, tmp_path, "model.ffn_width=32", resume=True)


def test_a_checkpoint_of_another_system_is_refused(tiny_recipe, tmp_path):
    result = run(tiny_recipe, tmp_path, "run.max_steps=1")
    config = result.checkpoint / "config.json"
    fields = json.loads(config.read_text())
    assert fields["system"] == "dat"
    config.write_text(json.dumps({**fields, "system": "at"}))
    with pytest.raises(IncompatibleModelError, match="of the system 'at', but 'dat' is wanted"):
        run(tiny_recipe, tmp_path, "run.max_steps=2", resume=True)
    with pytest.raises(IncompatibleModelError, match="of the system 'at', but 'dat' is wanted"):
        export_model(result.checkpoint, tmp_path / "exported")
    with pytest.raises(IncompatibleModelError, match="of the system 'at', but 'dat' is wanted"):
        ModelDirectory.open(result.checkpoint)
    config.write_text(json.dumps({**fields, "system": "oracle"}))
    with pytest.raises(IncompatibleModelError, match="unknown system 'oracle'; known: "):
        load_network(result.checkpoint)
    config.write_text(json.dumps({**fields, "system": 3}))
    with pytest.raises(ModelFormatError, match="'system' is 3, must be a name"):
        load_network(result.checkpoint)


def test_an_unknown_system_is_refused(tiny_recipe):
    with pytest.raises(ConfigError, match="system"):
        load_recipe(tiny_recipe, ["system=lstm"])
    with pytest.raises(ConfigError, match="unknown system 'lstm'; known: "):
        get_system("lstm")


def test_other_data_begins_a_new_epoch_and_says_so(tiny_recipe, tmp_path, caplog):
    run(tiny_recipe, tmp_path, "run.max_steps=3")
    words = ["data.batch_tokens=3200", "run.max_steps=4"]
    run(tiny_recipe, tmp_path, *words, resume=True)
    assert "data or batch size changed: starting epoch 1" in caplog.text
    assert read_metrics(tmp_path)[-1]["epoch"] == 1


class Clock:
    """Time that passes with what training does, not with what else the machine does."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


def test_training_stops_before_its_time_limit(tiny_recipe, tmp_path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr("sumfit.training.clock.time", clock)
    monkeypatch.setattr("sumfit.training.run.time", clock)

    def taking(seconds, whole):
        def longer(*arguments, **options):
            clock.now += seconds
            return whole(*arguments, **options)

        return longer

    for name, seconds in (("_step", 1.0), ("_validate", 2.0), ("_write", 2.0)):
        monkeypatch.setattr(Trainer, name, taking(seconds, getattr(Trainer, name)))
    words = ["run.max_minutes=1", "run.reserve_seconds=10", "run.max_steps=100"]
    words += ["optimizer.schedule=time", "optimizer.warmup_steps=0", "run.save_every=0"]
    result = run(tiny_recipe, tmp_path, *words)
    assert result.reason == "max_minutes"
    assert 30 < clock.now - 1000.0 < 60
    assert result.checkpoint.is_dir()
    rates = [record["lr"] for record in read_metrics(tmp_path)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < rates[0] / 2


def test_patience_ends_a_run_that_no_longer_improves(tiny_recipe, tmp_path):
    words = ["run.validate_every=1", "run.patience=2", "optimizer.lr=1e-30", "run.max_steps=50"]
    result = run(tiny_recipe, tmp_path, *words, "optimizer.ema_decay=0.0")
    assert result.reason == "patience"
    assert result.step == 3


def test_a_signal_saves_and_stops(tiny_recipe, tmp_path):
    process = start_training(tiny_recipe, f"output_dir={tmp_path}", "run.max_steps=100000")
    deadline = time.monotonic() + 300
    while not (tmp_path / "checkpoint-00000004").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    assert "stopped: interrupted at step" in out
    step = int(re.search(r"interrupted at step (\d+)", out).group(1))
    assert latest(tmp_path) == tmp_path / f"checkpoint-{step:08d}"


SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("kind", SIGNALS, ids=[kind.name for kind in SIGNALS])
def test_a_signal_in_a_validation_leaves_it_undone_and_saves(
    tiny_recipe, tmp_path, monkeypatch, caplog, kind
):
    """However long a validation takes, whatever it is doing, and without one at the end."""
    waited = []

    def validate_for_ever(self, model, **_):
        signal.raise_signal(kind)  # in the main thread: the handler runs before the next line
        waited.append("the signal did not end it")
        return {"loss": 1.0}

    monkeypatch.setattr("sumfit.training.validation.Validator.run", validate_for_ever)
    caplog.set_level("INFO")
    result = run(tiny_recipe, tmp_path, "run.validate_every=3")
    assert waited == []
    assert (result.reason, result.step, result.best) == ("interrupted", 3, None)
    assert result.checkpoint == latest(tmp_path) == tmp_path / "checkpoint-00000003"
    assert "step 3: validation left undone" in caplog.text
    assert read_metrics(tmp_path, "valid") == []
    monkeypatch.undo()
    resumed = run(tiny_recipe, tmp_path, "run.validate_every=3", resume=True)
    run(tiny_recipe, tmp_path / "straight", "run.validate_every=3")
    straight = load_file(tmp_path / "straight" / "checkpoint-00000012" / "model.safetensors")
    for name, value in load_file(resumed.checkpoint / "model.safetensors").items():
        assert torch.equal(value, straight[name]), name


def test_a_signal_between_steps_saves_without_a_validation(tiny_recipe, tmp_path, monkeypatch):
    real = Trainer._step

    def step(self, micro_batches):
        real(self, micro_batches)
        if self._state.step == 5:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Trainer, "_step", step)
    result = run(tiny_recipe, tmp_path)
    assert (result.reason, result.step, result.scores) == ("interrupted", 5, {})
    assert latest(tmp_path) == tmp_path / "checkpoint-00000005"
    assert read_metrics(tmp_path, "valid") == []


def test_what_is_over_is_skipped_in_a_validation(tiny_recipe, tmp_path, monkeypatch):
    asked = []
    seen = []
    trained = run(tiny_recipe, tmp_path, "run.max_steps=1", "validation.n_rouge=4")
    assert set(trained.scores) >= {"loss", "rouge"}

    def is_over():
        asked.append(1)
        return len(asked) > 1

    real = Validator.run

    def stop_early(self, model, **options):
        batches = self._batches
        monkeypatch.setattr(
            self, "_batches", lambda items: (seen.append(1) or one for one in batches(items))
        )
        self._system = SimpleNamespace(loss=self._system.loss)  # it must not summarise
        return real(self, model, **{**options, "is_over": is_over})

    monkeypatch.setattr(Validator, "run", stop_early)
    words = ["run.max_steps=1", "validation.n_rouge=4", "data.batch_tokens=200"]
    scores = run(tiny_recipe, tmp_path / "over", *words).scores
    assert len(seen) == 2  # the second is made and left
    assert scores["rouge"] == 0.0


def test_a_line_is_said_while_a_step_or_a_validation_takes_long(
    tiny_recipe, tmp_path, monkeypatch, caplog
):
    caplog.set_level("INFO")
    monkeypatch.setattr("sumfit.training.stages.Heartbeat", partial(Heartbeat, every_s=0.05))

    def until_said(pattern):
        deadline = time.monotonic() + 60
        while not re.search(pattern, caplog.text):
            assert time.monotonic() < deadline, caplog.text
            time.sleep(0.01)

    real = Trainer._step

    def slow_step(self, micro_batches):
        if self._state.step == 1:
            until_said("step 1 of 2: training")
        real(self, micro_batches)

    def slow_validation(self, model, **_):
        until_said("step 2 of 2: validating")
        return {"loss": 1.0}

    monkeypatch.setattr(Trainer, "_step", slow_step)
    monkeypatch.setattr(Validator, "run", slow_validation)
    assert run(tiny_recipe, tmp_path, "run.max_steps=2", "run.log_every=100").step == 2


def failing(n_failures, largest):
    """An objective that runs out of memory on batches above a size, a number of times."""
    real = dat_system.objective
    calls = []

    def objective(model, batch, **options):
        n_items = len(batch["source_ids"])
        calls.append(n_items)
        if n_items > largest and len(calls) <= n_failures:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(model, batch, **options)

    return objective, calls


def test_out_of_memory_splits_the_batch_once(tiny_recipe, tmp_path, monkeypatch, caplog):
    objective, calls = failing(1, 0)
    monkeypatch.setattr(dat_system, "objective", objective)
    run(tiny_recipe, tmp_path, "run.max_steps=1", "optimizer.ema_decay=0.0", "run.log_every=1")
    assert "out of memory on a batch of" in caplog.text
    whole, first, second = calls[:3]
    assert first + second == whole
    assert read_metrics(tmp_path)[0]["pairs"] == whole


def test_the_halves_of_a_split_batch_give_the_gradient_of_the_whole(
    tiny_recipe, tmp_path, monkeypatch
):
    words = ["run.max_steps=1", "run.log_every=1", "model.dropout=0.0", "loss.glance_start=0.0"]
    words += ["loss.glance_end=0.0"]
    run(tiny_recipe, tmp_path / "whole", *words)
    monkeypatch.setattr(dat_system, "objective", failing(1, 0)[0])
    run(tiny_recipe, tmp_path / "split", *words)
    one, two = (read_metrics(tmp_path / name)[0] for name in ("whole", "split"))
    assert one["grad_norm"] == pytest.approx(two["grad_norm"], rel=1e-4)
    assert one["loss"] == pytest.approx(two["loss"], rel=1e-5)


def test_a_split_keeps_the_earlier_batches_of_its_step(tiny_recipe, tmp_path, monkeypatch):
    words = ["run.max_steps=1", "run.log_every=1", "run.accumulate=3", "model.dropout=0.0"]
    words += ["loss.glance_start=0.0", "loss.glance_end=0.0"]
    run(tiny_recipe, tmp_path / "whole", *words)
    real, calls = dat_system.objective, []

    def objective(model, batch, **options):
        calls.append(len(batch["source_ids"]))
        out = real(model, batch, **options)
        if len(calls) == 2:  # memory runs out when part of the gradient is there already
            torch.autograd.backward(out.loss * 0.3)
            raise torch.OutOfMemoryError("CUDA out of memory")
        return out

    monkeypatch.setattr(dat_system, "objective", objective)
    run(tiny_recipe, tmp_path / "split", *words)
    first, second, again, *halves = calls[:5]
    assert again == first  # made again
    assert sum(halves) == second
    one, two = (read_metrics(tmp_path / name)[0] for name in ("whole", "split"))
    assert one["pairs"] == two["pairs"]  # counted once all the same
    assert (one["split_batches"], two["split_batches"]) == (0, 1)
    assert one["loss"] == pytest.approx(two["loss"], rel=1e-5)
    assert one["grad_norm"] == pytest.approx(two["grad_norm"], rel=1e-4)
    weights = [
        load_file(latest(tmp_path / name) / "model.safetensors") for name in ("whole", "split")
    ]
    for name, value in weights[0].items():
        torch.testing.assert_close(value, weights[1][name], rtol=1e-3, atol=1e-5)


def test_out_of_memory_on_half_a_batch_names_it(tiny_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(dat_system, "objective", failing(100, 0)[0])
    with pytest.raises(TrainingError) as caught:
        run(tiny_recipe, tmp_path)
    text = str(caught.value)
    assert re.match(r"out of memory on half of a batch of \d+ pairs, source \(\d+, \d+\), ", text)
    assert "lower data.batch_tokens (now 1600) and resume" in text


def test_a_run_whose_gradients_stay_bad_stops_and_names_the_items(
    tiny_recipe, tmp_path, monkeypatch, caplog
):
    real = dat_system.objective

    def objective(model, batch, **options):
        out = real(model, batch, **options)
        return type(out)(
            **{
                name: value * float("nan") if name == "loss" else value
                for name, value in ((n, getattr(out, n)) for n in out.__slots__)
            }
        )

    monkeypatch.setattr(dat_system, "objective", objective)
    with pytest.raises(TrainingError, match="was not finite in 4 steps in a row"):
        run(tiny_recipe, tmp_path, "run.max_bad_steps=4")
    assert re.search(r"step 0 skipped: .* \(items \d+, \d+", caplog.text)
    assert latest(tmp_path) is None


def test_denoising_trains_on_the_sources_alone(tiny_recipe, tmp_path):
    words = ["loss.denoise_share=1.0", "loss.denoise.max_target=8", "run.max_steps=40"]
    run(tiny_recipe, tmp_path, *words, "run.save_every=0")
    records = read_metrics(tmp_path)
    assert records[-1]["nll"] < records[0]["nll"] - 0.5


def test_the_second_stage_adds_bigram_matches_to_the_loss(tiny_recipe, tmp_path):
    words = ["run.max_steps=1", "run.log_every=1", "optimizer.ema_decay=0.0"]
    run(tiny_recipe, tmp_path / "without", *words)
    run(tiny_recipe, tmp_path / "with", *words, "loss.ngram_weight=0.5")
    one, two = (read_metrics(tmp_path / name)[0] for name in ("without", "with"))
    assert one["nll"] == pytest.approx(two["nll"], rel=1e-5)
    assert one["loss"] != pytest.approx(two["loss"], rel=1e-2)


def test_a_run_starts_from_an_earlier_model(tiny_recipe, tmp_path):
    first = run(tiny_recipe, tmp_path / "a", "run.max_steps=30", "run.save_every=0")
    words = [f"start.model={first.best}", "run.max_steps=1", "optimizer.lr=1e-30"]
    second = run(tiny_recipe, tmp_path / "b", *words)
    assert second.scores["loss"] == pytest.approx(first.scores["loss"], rel=1e-4)


def test_rouge_of_decoded_texts_can_choose_the_best(tiny_recipe, tmp_path):
    words = ["validation.n_rouge=8", "validation.metric=rouge", "validation.words=6"]
    result = run(tiny_recipe, tmp_path, *words, "run.max_steps=2")
    assert 0 <= result.scores["rouge"] <= 300
    state, _ = checkpoints.load_training(result.checkpoint, DAT(read_config(tiny_recipe)))
    assert state.best == pytest.approx(-result.scores["rouge"])


def read_config(tiny_recipe):
    from sumfit.text import Tokenizer

    recipe = load_recipe(tiny_recipe)
    tokenizer = Tokenizer.from_file(recipe.corpus / "tokenizer.json")
    return recipe.with_vocab(tokenizer.vocab_size).model


def test_validation_does_not_depend_on_batches(tiny_recipe):
    from sumfit.text import Tokenizer
    from sumfit.training.parallel import Processes
    from sumfit.training.validation import Validator

    losses = []
    torch.manual_seed(0)
    model = DAT(read_config(tiny_recipe))
    for tokens in (800, 5000):
        recipe = load_recipe(tiny_recipe, [f"data.batch_tokens={tokens}"])
        validator = Validator(
            recipe.corpus,
            system=get_system("dat"),
            tokenizer=Tokenizer.from_file(recipe.corpus / "tokenizer.json"),
            batch_options=recipe.batch_options,
            options=recipe.validation,
            processes=Processes("cpu"),
        )
        losses.append(validator.run(model, precision="fp32")["loss"])
        assert model.training
    assert np.isfinite(losses).all()
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
