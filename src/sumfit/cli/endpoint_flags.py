"""Options of the commands that ask a language model over the network.

Owns how they become `sumfit.evaluation.endpoint.EndpointOptions`. Does not own what is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from sumfit.evaluation.endpoint import EndpointOptions

__all__ = ["EndpointFlags"]


@dataclass(frozen=True)
class EndpointFlags:
    """Which model to ask, and how patiently."""

    endpoint: Annotated[
        str, typer.Option(help="OpenAI-compatible address, for example http://localhost:8080/v1")
    ]
    model: Annotated[str, typer.Option(help="Name of the model")]
    timeout: Annotated[float, typer.Option(help="Seconds to wait for an answer")] = 60.0
    retries: Annotated[int, typer.Option(help="Further tries after a failure")] = 5
    api_key_variable: Annotated[
        str, typer.Option(help="Environment variable that holds the key")
    ] = "OPENAI_API_KEY"

    def options(self, *, max_tokens: int, n_parallel: int = 1) -> EndpointOptions:
        """The same for the library.

        Args:
            max_tokens: Most tokens of an answer.
            n_parallel: Requests at once.

        Returns:
            Options of the endpoint.
        """
        return EndpointOptions(
            base_url=self.endpoint,
            model=self.model,
            api_key_variable=self.api_key_variable,
            max_tokens=max_tokens,
            timeout_s=self.timeout,
            max_retries=self.retries,
            n_parallel=n_parallel,
        )
