"""One optimiser step: flat gradients, clipping, schedule, AdamW, the moving average, bad steps.

Owns `Optimiser`. Nothing here waits for the GPU: a gradient that is not finite makes the fused
AdamW skip its step on the device, and the flags are read when the log is written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from sumfit.training.parallel import Processes
from sumfit.training.recipe import LossSection, OptimizerSection

__all__ = ["Optimiser", "glance_ratio", "learning_rate"]


def learning_rate(options: OptimizerSection, *, step: int, share: float) -> float:
    """Say the learning rate of a step.

    Args:
        options: Rate, warm-up and schedule.
        step: Steps done before this one.
        share: Share of the run that is over, 0 to 1: of the steps, or of the time for ``time``.

    Returns:
        The rate.
    """
    warm = min(1.0, (step + 1) / max(1, options.warmup_steps))
    falling = min(1.0, max(0.0, (share - options.hold) / (1.0 - options.hold)))
    if options.schedule == "inverse-sqrt":
        start = max(1, options.warmup_steps)
        factor = math.sqrt(start / max(step + 1, start))
    elif options.schedule == "cosine":
        factor = 0.5 * (1.0 + math.cos(math.pi * falling))
    elif options.schedule == "constant":
        factor = 1.0
    else:
        factor = 1.0 - falling
    return options.lr * warm * max(factor, options.final_share)


def glance_ratio(options: LossSection, *, step: int, share: float) -> float:
    """Say the share of wrong words that a step reveals.

    Args:
        options: Start, end and length of the annealing.
        step: Steps done before this one.
        share: Share of the run that is over, 0 to 1.

    Returns:
        The share; linear between start and end.
    """
    done = min(1.0, step / options.glance_steps) if options.glance_steps else share
    return options.glance_start + (options.glance_end - options.glance_start) * done


class Optimiser:
    """Holds the gradients, AdamW and the moving average of one model."""

    def __init__(
        self, model: nn.Module, options: OptimizerSection, processes: Processes, log_every: int
    ) -> None:
        """Lay all gradients into one flat buffer and set AdamW up.

        Args:
            model: The network, on its device, float32.
            options: Rate, moments, decay, clipping, average.
            processes: The processes to sum gradients over.
            log_every: How many steps' flags to remember.
        """
        self._options = options
        self._processes = processes
        named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        self.names = [name for name, _ in named]
        self.parameters: list[Tensor] = [parameter for _, parameter in named]
        self._flat = _flat_gradients(self.parameters)
        decayed = [p for n, p in named if p.ndim >= 2 and not _is_embedding(model, n)]
        rest = [p for n, p in named if p.ndim < 2 or _is_embedding(model, n)]
        groups = [
            {"params": decayed, "weight_decay": options.weight_decay},
            {"params": rest, "weight_decay": 0.0},
        ]
        self._adam = torch.optim.AdamW(
            [group for group in groups if group["params"]],
            lr=options.lr,
            betas=(options.beta1, options.beta2),
            eps=options.eps,
            fused=True,
        )
        device = self._flat.device
        self._adam.grad_scale = None  # type: ignore[attr-defined]
        self._adam.found_inf = torch.zeros((), device=device)  # type: ignore[attr-defined]
        self.flags = torch.zeros(log_every, device=device)
        self.n_bad_in_a_row = torch.zeros((), device=device)
        self.most_bad_in_a_row = torch.zeros((), device=device)
        self.ema: list[Tensor] = []
        if options.ema_decay:
            self.ema = [p.detach().clone() for p in self.parameters]

    def zero_gradients(self) -> None:
        """Start a step."""
        self._flat.zero_()

    def step(self, *, step: int, lr: float) -> Tensor:
        """Sum gradients over processes, clip, update, average.

        Args:
            step: Steps done before this one.
            lr: Learning rate.

        Returns:
            Scalar, norm of the gradient before clipping, on the device.
        """
        self._processes.sum_(self._flat)
        norm: Tensor = torch.linalg.vector_norm(self._flat)
        if self._options.clip:
            self._flat.mul_((self._options.clip / (norm + 1e-6)).clamp(max=1.0))
        is_bad = (~torch.isfinite(norm)).float()
        self._adam.found_inf.copy_(is_bad)  # type: ignore[attr-defined]
        for group in self._adam.param_groups:
            group["lr"] = lr
        self._adam.step()
        self.flags[step % self.flags.shape[0]] = is_bad
        self.n_bad_in_a_row.add_(1.0).mul_(is_bad)
        torch.maximum(self.most_bad_in_a_row, self.n_bad_in_a_row, out=self.most_bad_in_a_row)
        if self.ema:
            decay = min(self._options.ema_decay, (1 + step) / (10 + step))
            with torch.no_grad():
                torch._foreach_lerp_(self.ema, self.parameters, 1.0 - decay)
        return norm

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Put the moving average into the model for the length of a with-block.

        Yields:
            Nothing.
        """
        if not self.ema:
            yield
            return
        kept = [p.detach().clone() for p in self.parameters]
        self._load(self.ema)
        try:
            yield
        finally:
            self._load(kept)

    def tensors(self) -> dict[str, Tensor]:
        """Give the state as named tensors, for a checkpoint.

        Returns:
            ``ema.NAME``, ``exp_avg.NAME``, ``exp_avg_sq.NAME`` and ``step.NAME``.
        """
        out: dict[str, Tensor] = {}
        for name, average in zip(self.names, self.ema, strict=False):
            out[f"ema.{name}"] = average
        for name, parameter in zip(self.names, self.parameters, strict=True):
            for key, value in self._adam.state[parameter].items():
                out[f"{key}.{name}"] = value
        return out

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Take the state from named tensors.

        Args:
            tensors: What `tensors` gave; a moving average that is missing starts from the model.
        """
        device = self._flat.device
        for index, (name, parameter) in enumerate(zip(self.names, self.parameters, strict=True)):
            state: dict[str, Any] = {}
            for key in ("step", "exp_avg", "exp_avg_sq"):
                if f"{key}.{name}" in tensors:
                    state[key] = tensors[f"{key}.{name}"].to(device, torch.float32).clone()
            self._adam.state[parameter] = state
            if self.ema:
                average = tensors.get(f"ema.{name}", parameter.detach())
                self.ema[index] = average.to(device, torch.float32).clone()

    def _load(self, values: list[Tensor]) -> None:
        with torch.no_grad():
            for parameter, value in zip(self.parameters, values, strict=True):
                parameter.copy_(value)


def _flat_gradients(parameters: list[Tensor]) -> Tensor:
    """Make every gradient a view of one buffer, which is returned; autograd adds in place."""
    flat = torch.zeros(sum(p.numel() for p in parameters), device=parameters[0].device)
    offset = 0
    for parameter in parameters:
        parameter.grad = flat[offset : offset + parameter.numel()].view_as(parameter)
        offset += parameter.numel()
    return flat


def _is_embedding(model: nn.Module, name: str) -> bool:
    owner = model.get_submodule(name.rpartition(".")[0])
    return isinstance(owner, nn.Embedding)
