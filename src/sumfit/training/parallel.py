"""Processes of a run: who am I, and sums over all of them.

Owns the process group that ``torchrun`` asks for through its environment variables. Gradients are
summed by one reduction of a flat buffer after accumulation, not by hooks inside backward: the
model stays a plain module, a batch can be split when memory runs out, and any number of processes
gives what one process gives with as many accumulated batches.
"""

from __future__ import annotations

import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from sumfit.errors import ConfigError

__all__ = ["Processes", "checked_device"]


def checked_device(device: str = "") -> torch.device:
    """Find the device of this process.

    Args:
        device: ``cpu``, ``cuda`` or ``cuda:N``; the best there is if empty.

    Returns:
        The device; ``cuda`` is this process's own GPU.

    Raises:
        ConfigError: If it is none of these, or there is no such GPU.
    """
    if not device:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(device)
    except RuntimeError:
        place = torch.device("meta")
    if place.type not in ("cpu", "cuda"):
        raise ConfigError.of("device", device, "must be cpu, cuda or cuda:N")
    if place.type == "cpu":
        return place
    index = int(os.environ.get("LOCAL_RANK", "0")) if place.index is None else place.index
    if index >= torch.cuda.device_count():
        raise ConfigError(
            f"process {os.environ.get('RANK', '0')} needs GPU {index}, but there are "
            f"{torch.cuda.device_count()}; start fewer processes or use --device cpu"
        )
    return torch.device("cuda", index)


class Processes:
    """The processes of this run; one that is alone does no communication.

    Attributes:
        rank: This process, from 0.
        size: Number of processes.
        device: Device of this process.
    """

    rank: int
    size: int
    device: torch.device

    def __init__(self, device: str = "") -> None:
        """Join the process group, if the environment names one.

        Args:
            device: ``cpu``, ``cuda`` or ``cuda:N``; the best there is if empty.

        Raises:
            ConfigError: If the device is unknown, or a GPU that this process does not have.
        """
        self.rank = int(os.environ.get("RANK", "0"))
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.device = checked_device(device)
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        if self.size > 1 and not dist.is_initialized():
            backend = "nccl" if self.device.type == "cuda" else "gloo"
            bound = self.device if backend == "nccl" else None
            dist.init_process_group(backend, timeout=timedelta(minutes=30), device_id=bound)

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files and the log."""
        return self.rank == 0

    def sum_(self, values: Tensor) -> Tensor:
        """Sum a tensor over all processes, in place.

        Args:
            values: Any shape, the same everywhere, on this process's device.

        Returns:
            The same tensor.
        """
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def max_of(self, values: list[float]) -> list[float]:
        """Agree on the largest of some numbers; all processes must call it together.

        Args:
            values: Numbers of this process.

        Returns:
            For each the largest over all processes.
        """
        if self.size == 1:
            return values
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        agreed: list[float] = tensor.tolist()
        return agreed

    def wait(self) -> None:
        """Wait until all processes are here."""
        self.max_of([0.0])

    def close(self) -> None:
        """Leave the process group."""
        if self.size > 1 and dist.is_initialized():
            dist.destroy_process_group()
