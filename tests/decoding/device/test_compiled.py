"""What triton's compiler makes of the kernels' loops, for which no GPU is needed.

Its passes have made a loop begin at 0 that began where the one before ended: every kind of words
was weighed again as each later kind, which the interpreter does not show.
"""

from __future__ import annotations

import importlib.util
import os
import re

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or os.environ.get("TRITON_INTERPRET") == "1",
    reason="needs triton's compiler",
)

POINTERS = {
    "cost_values": "*i64",
    "first_cost_values": "*i64",
    **dict.fromkeys(("chunk_kind", "kind_end", "payable", "n_all_chunks", "low", "high"), "*i32"),
    **dict.fromkeys(("cost", "first_cost", "rest", "parents", "places", "found_at"), "*i32"),
}
NUMBERS = ("n_layers", "n_kinds", "n_first_kinds", "max_chunks", "n_steps")


def loops_from_zero(kernel: object, constants: dict[str, object]) -> list[int]:
    """How many loops begin at the constant 0, before and after the passes for the device."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler import compile as compile_source

    types = dict.fromkeys(NUMBERS, "i32") | POINTERS | {"unit_bonus": "fp32"}
    names = kernel.arg_names  # type: ignore[attr-defined]
    signature = {
        name: "constexpr" if name in constants else types.get(name, "*fp32") for name in names
    }
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    made = compile_source(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 8})
    return [
        len(re.findall(r"scf\.for %\S+ = %c0_i32 to", made.asm[stage]))
        for stage in ("ttir", "ttgir")
    ]


@pytest.mark.parametrize("precision", ["ieee", "tf32x3"])
@pytest.mark.parametrize("is_one", [False, True])
def test_loops_of_the_bounds_begin_where_they_are_told(is_one: bool, precision: str) -> None:
    from sumfit.decoding.device.kernels import bounds

    shape = {"N": 32, "CHUNK": 16, "ONE_KIND": is_one, "HAS_OTHER": True, "HAS_FREE": not is_one}
    before, after = loops_from_zero(bounds, {**shape, "TINY": 1e-30, "PRECISION": precision})
    assert before == after > 0


@pytest.mark.parametrize("precision", ["ieee", "tf32x3"])
def test_loops_of_the_beam_begin_where_they_are_told(precision: str) -> None:
    from sumfit.decoding.device.kernels_beam import beam

    shape = {"K": 20, "ROWS": 32, "N": 32, "CHUNK": 16, "WIDTH": 512, "HAS_OTHER": True}
    rest = {"N_BEST": 1, "BEST_LANES": 1, "BY_SORT": False, "PRECISION": precision}
    before, after = loops_from_zero(beam, shape | rest)
    assert before == after > 0
