"""``sumfit presets``, ``units`` and ``model``: what there is to choose from; and ``warmup``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from sumfit.cli.options import ModelFlags, with_flags

__all__ = ["model", "presets", "units", "warmup"]

Json = Annotated[bool, typer.Option("--json", help="As JSON.")]


def presets(as_json: Json = False) -> None:
    """List the named length limits, with where each comes from."""
    from dataclasses import asdict

    from sumfit.length import PRESETS

    if as_json:
        print(json.dumps({name: asdict(preset) for name, preset in PRESETS.items()}, indent=2))
        return
    width = max(map(len, PRESETS))
    for name, preset in PRESETS.items():
        print(f"{name:<{width}}  {preset.limit:>4} {preset.unit:<6}  {preset.description}")


def units(as_json: Json = False) -> None:
    """List what a limit can count."""
    from sumfit.length import UNITS

    if as_json:
        print(json.dumps({name: unit.description for name, unit in UNITS.items()}, indent=2))
        return
    width = max(map(len, UNITS))
    for name, unit in UNITS.items():
        print(f"{name:<{width}}  {unit.description}")


@with_flags(flags=ModelFlags)
def model(as_json: Json = False, *, flags: ModelFlags) -> None:
    """Describe a model, the decoders, and the defaults in use."""
    facts = flags.load().describe()
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    config = facts["config"]
    shape = config["architecture"]
    print(f"model      {facts['name']} ({facts['backend']}), sumfit {facts['version']}")
    print(f"reads      at most {config['max_source']} pieces of a text")
    print(f"graph      {shape['min_vertices']} to {shape['max_vertices']} vertices")
    print(f"profiles   {', '.join(config['profiles'])}")
    for name, what in (("bonus", "piece"), ("unit_bonus", "unit")):
        bonus = ", ".join(f"{unit} {value:g}" for unit, value in config[name].items())
        print(f"{name:<10} {bonus or 'none'} (nats per {what})")
    print(f"styles     {', '.join(facts['styles']) or 'as the text asks'}")
    print(f"methods    {', '.join(facts['methods'])}")
    print("defaults")
    for name, value in facts["defaults"].items():
        print(f"  {name:<20} {json.dumps(value)}")


@with_flags(flags=ModelFlags)
def warmup(*, flags: ModelFlags) -> None:
    """Compile the search for this machine, so that the first summary is as fast as later ones.

    Run it once after an installation, in a container's build or before a scheduled job. The
    loops are kept in SUMFIT_CACHE_DIR, or beside the package.
    """
    from sumfit.compilation import n_compiled
    from sumfit.pipeline import warm_up

    before = n_compiled()
    seconds = warm_up(flags.load(n_workers=1))
    count = n_compiled() - before
    what = f"compiled {count} functions" if count else "all compiled already, loaded"
    print(f"{what} in {seconds:.1f} s")
