from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from sumfit.errors import TrainingError
from sumfit.training.guard import BadStepGuard
from sumfit.training.optimise import Optimiser, glance_ratio, learning_rate
from sumfit.training.parallel import Processes
from sumfit.training.recipe import LossSection, OptimizerSection, RunSection
from sumfit.training.validation import autocast


def make(log_every=4, **options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2))
    section = OptimizerSection(**options)
    return model, Optimiser(model, section, Processes("cpu"), log_every)


def loss_of(model, scale=1.0):
    return (model(torch.tensor([0, 2, 4])) ** 2).sum() * scale


def test_schedules_warm_up_and_fall_as_documented():
    def lr(schedule, step, share=0.0, **options):
        section = OptimizerSection(lr=1.0, warmup_steps=10, schedule=schedule, **options)
        return learning_rate(section, step=step, share=share)

    for schedule in ("inverse-sqrt", "linear", "cosine", "time", "constant"):
        assert lr(schedule, 0) == pytest.approx(0.1)
        assert lr(schedule, 4) == pytest.approx(0.5)
        assert lr(schedule, 9) == pytest.approx(1.0)
    assert lr("inverse-sqrt", 39) == pytest.approx(0.5)
    assert lr("constant", 10_000, 1.0) == 1.0
    for schedule in ("linear", "time"):
        assert lr(schedule, 50, 0.25) == pytest.approx(0.75)
        assert lr(schedule, 50, 0.3, hold=0.3) == 1.0
        assert lr(schedule, 50, 0.65, hold=0.3) == pytest.approx(0.5)
        assert lr(schedule, 50, 1.0) == 0.0
        assert lr(schedule, 50, 1.0, final_share=0.1) == pytest.approx(0.1)
    assert lr("cosine", 50, 0.5) == pytest.approx(0.5)


def test_glancing_anneals_over_its_steps_or_the_whole_run():
    fixed = LossSection(glance_start=0.5, glance_end=0.1, glance_steps=100)
    assert glance_ratio(fixed, step=50, share=0.0) == pytest.approx(0.3)
    assert glance_ratio(fixed, step=500, share=0.0) == pytest.approx(0.1)
    whole = LossSection(glance_start=0.5, glance_end=0.1)
    assert glance_ratio(whole, step=7, share=0.75) == pytest.approx(0.2)


def test_a_step_is_adamw_after_clipping_and_the_average_follows():
    options = {"lr": 0.1, "clip": 0.3, "weight_decay": 0.2, "ema_decay": 0.9, "beta2": 0.98}
    model, optimiser = make(**options)
    other, _ = make(**options)
    matrices = [other[1].weight]
    rest = [other[0].weight, other[1].bias]  # embeddings and biases do not decay
    plain = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.2}, {"params": rest, "weight_decay": 0.0}],
        betas=(0.9, 0.98),
    )
    averages = [p.detach().clone() for p in other.parameters()]
    for step in range(4):
        lr = 0.1 / (step + 1)
        optimiser.zero_gradients()
        loss_of(model).backward()
        norm = optimiser.step(step=step, lr=lr)
        plain.zero_grad()
        loss_of(other).backward()
        for group in plain.param_groups:
            group["lr"] = lr
        expected = torch.nn.utils.clip_grad_norm_(other.parameters(), 0.3)
        plain.step()
        assert norm.item() == pytest.approx(expected.item(), rel=1e-5)
        decay = min(0.9, (1 + step) / (10 + step))
        for average, parameter in zip(averages, other.parameters(), strict=True):
            average.mul_(decay).add_(parameter.detach(), alpha=1 - decay)
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(one, two)
    for one, two in zip(optimiser.ema, averages, strict=True):
        torch.testing.assert_close(one, two)


def test_gradients_add_up_over_batches_until_the_step():
    model, optimiser = make()
    loss_of(model).backward()
    loss_of(model, 2.0).backward()
    summed = [p.grad.clone() for p in model.parameters()]
    optimiser.zero_gradients()
    loss_of(model, 3.0).backward()
    for one, parameter in zip(summed, model.parameters(), strict=True):
        torch.testing.assert_close(one, parameter.grad)


def test_a_step_with_a_bad_gradient_changes_nothing_and_is_flagged():
    model, optimiser = make(lr=0.1)
    optimiser.zero_gradients()
    loss_of(model).backward()
    optimiser.step(step=0, lr=0.1)
    weights = [p.detach().clone() for p in model.parameters()]
    moments = {name: value.clone() for name, value in optimiser.tensors().items()}
    optimiser.zero_gradients()
    loss_of(model, math.nan).backward()
    optimiser.step(step=1, lr=0.1)
    for one, parameter in zip(weights, model.parameters(), strict=True):
        assert torch.equal(one, parameter)
    for name, value in optimiser.tensors().items():
        if not name.startswith("ema."):
            assert torch.equal(value, moments[name]), name
    assert optimiser.flags.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_the_average_is_in_the_model_only_inside_the_block():
    model, optimiser = make(ema_decay=0.5)
    optimiser.zero_gradients()
    loss_of(model).backward()
    optimiser.step(step=0, lr=0.5)
    raw = [p.detach().clone() for p in model.parameters()]
    with optimiser.averaged():
        for parameter, average in zip(model.parameters(), optimiser.ema, strict=True):
            assert torch.equal(parameter, average)
        assert not torch.equal(next(model.parameters()), raw[0])
    for one, parameter in zip(raw, model.parameters(), strict=True):
        assert torch.equal(one, parameter)


def test_state_goes_through_named_tensors():
    model, optimiser = make(lr=0.1, ema_decay=0.9)
    optimiser.zero_gradients()
    loss_of(model).backward()
    optimiser.step(step=0, lr=0.1)
    twin, second = make(lr=0.1, ema_decay=0.9)
    twin.load_state_dict(model.state_dict())
    second.load(optimiser.tensors())
    for m, o in ((model, optimiser), (twin, second)):
        o.zero_gradients()
        loss_of(m).backward()
        o.step(step=1, lr=0.1)
    for one, two in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(one, two)
    for one, two in zip(optimiser.ema, second.ema, strict=True):
        assert torch.equal(one, two)


def test_the_guard_names_items_and_stops_after_too_many_in_a_row(caplog):
    model, optimiser = make(log_every=5)
    guard = BadStepGuard(optimiser, max_bad_steps=3)

    def run(steps, bad):
        for step in steps:
            optimiser.zero_gradients()
            loss_of(model, math.inf if step in bad else 1.0).backward()
            optimiser.step(step=step, lr=0.1)
            guard.remember(step, [torch.tensor([100 + step, 7]).numpy()])

    run(range(4), {1})
    assert guard.check() == 1
    run(range(4, 9), {4, 5, 8})
    assert guard.check() == 3
    assert "step 1 skipped: its gradient is not finite (items 101, 7, ..." in caplog.text
    # The bad step before the check counts: 8, 9, 10 are three in a row.
    run(range(9, 12), {9, 10})
    with pytest.raises(TrainingError) as caught:
        guard.check()
    assert "in 3 steps in a row, the last of them step 10 (items 110, 7" in str(caught.value)


@pytest.mark.parametrize(
    ("device", "precision", "is_on"),
    [
        ("cpu", "auto", False),  # bf16 takes many times as long on a CPU
        ("cuda", "auto", True),
        ("cpu", "bf16", True),
        ("cuda", "fp32", False),
    ],
)
def test_precision_follows_the_device_unless_it_is_given(
    monkeypatch: pytest.MonkeyPatch, device: str, precision: str, is_on: bool
) -> None:
    asked: list[dict[str, object]] = []
    monkeypatch.setattr(torch, "autocast", lambda kind, **options: asked.append(options))
    autocast(torch.device(device), precision)
    assert [options["enabled"] for options in asked] == [is_on]
    assert RunSection().precision == "auto"
