"""``sumfit mcp``: a server for agents that speak the Model Context Protocol."""

from __future__ import annotations

from sumfit.cli.options import ModelFlags, with_flags

__all__ = ["mcp"]


@with_flags(model=ModelFlags)
def mcp(*, model: ModelFlags) -> None:
    """Serve the tool summarize_to_fit over standard input and output.

    sumfit mcp

    An agent starts it by this command; it ends when its input does. The tool takes a text and
    a limit, which is required, and a unit and a style.
    """
    from sumfit.integrations.mcp_server import build_server

    build_server(model.load(n_workers=1)).run()
