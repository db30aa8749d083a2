"""An MCP server: one tool, `summarize_to_fit`, for agents; needs ``sumfit[mcp]``.

Owns the tool's name, its fields and what it answers. Transport and protocol are the SDK's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field
from typing_extensions import TypedDict

from sumfit._version import __version__
from sumfit.errors import SumfitError
from sumfit.length import UNITS
from sumfit.length.request import MAX_LIMIT
from sumfit.pipeline import Summarizer
from sumfit.pipeline.options import CHOICES

__all__ = ["LONGEST_TEXT", "Fitted", "build_server"]

LONGEST_TEXT = 1_000_000
"""Most characters of a text in one call."""

if TYPE_CHECKING:
    from sumfit.length.names import UnitName as _Unit
    from sumfit.pipeline.keywords import StyleName as _Style
else:
    _Unit = Literal[tuple(UNITS)]
    _Style = Literal[CHOICES["style"]]


class Fitted(TypedDict):
    """What the tool answers.

    Attributes:
        text: The summary.
        length: Its length in `unit`, never above `limit`.
        unit: What was counted.
        limit: The limit that was asked for.
        complete: Whether it ends as a sentence or headline should.
        faithful: Whether rules find that it says only what the text says.
    """

    text: str
    length: int
    unit: str
    limit: int
    complete: bool
    faithful: bool | None


def build_server(summarizer: Summarizer) -> MCPServer:
    """Make the server; its ``run()`` serves standard input and output until they close.

    Args:
        summarizer: What writes the summaries.

    Returns:
        A server of the SDK with one tool.
    """
    server: MCPServer = MCPServer(
        "sumfit",
        version=__version__,
        instructions="Use summarize_to_fit for titles, subjects, notifications and other short "
        "English texts that must keep a length limit.",
        log_level="WARNING",
    )

    @server.tool(
        title="Summarise to fit",
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
    def summarize_to_fit(
        text: Annotated[str, Field(description="The text, in English.", max_length=LONGEST_TEXT)],
        limit: Annotated[
            int,
            Field(description="Most that the summary may measure, in unit.", ge=1, le=MAX_LIMIT),
        ],
        unit: Annotated[_Unit, Field(description="What the limit counts.")] = "chars",
        style: Annotated[
            _Style, Field(description="What is written; auto leaves it to the text.")
        ] = "auto",
    ) -> Fitted:
        """Summarise a text in at most so many characters, words, bytes or other units.

        The limit is never broken. The summary is one line in the style of a headline or subject.
        """
        try:
            found = summarizer.summarize(text, max_length=limit, unit=unit, style=style)
        except SumfitError as error:
            raise ToolError(str(error)) from error
        return Fitted(
            text=found.text,
            length=found.length,
            unit=found.unit,
            limit=found.limit,
            complete=found.complete,
            faithful=found.faithful,
        )

    return server
