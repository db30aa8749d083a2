"""The running service: one summarizer, one queue, one set of counters.

Owns admission, waiting and the end of a request's work; routes call it and shape the replies.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from starlette.requests import Request

from sumfit.errors import OverloadedError, ServiceError, SumfitError, TimeLimitError
from sumfit.serving.batching import Batcher, Work
from sumfit.serving.engine import SummarizerLike, run_works, text_works
from sumfit.serving.errors import Problem, from_sumfit_error
from sumfit.serving.metrics import Metrics
from sumfit.serving.options import ServerOptions

__all__ = ["Service"]

_WARM_UP = "The harbour wall, built after the storm of 1953, will be raised by a metre next year."


class Service:
    """What the routes share."""

    def __init__(
        self, summarizer: SummarizerLike, options: ServerOptions, metrics: Metrics
    ) -> None:
        """Prepare the queue.

        Args:
            summarizer: The model; called from several threads.
            options: Limits.
            metrics: Counters.
        """
        self.summarizer = summarizer
        self.options = options
        self.metrics = metrics
        self.is_ready = False
        self.started_at = int(time.time())
        self.batcher = Batcher(
            partial(run_works, summarizer),
            n_workers=options.n_workers,
            max_batch=options.max_batch,
            queue_size=options.queue_size,
            on_batch=metrics.note_batch,
        )
        metrics.watch_queue(lambda: self.batcher.n_waiting, lambda: self.batcher.n_running)

    async def warm_up(self) -> None:
        """Summarise one sentence, so that the first client does not wait for compilation.

        Raises:
            ServiceError: If the model cannot do even that.
        """
        works = text_works([_WARM_UP], {"max_chars": 40})
        (result,) = await self.batcher.submit(works, time_limit_s=600.0)
        error = result if isinstance(result, SumfitError) else result.error
        if error is not None:
            raise ServiceError(f"the model failed on a test sentence: {error}")
        self.batcher.forget_pace()
        self.is_ready = True

    async def stop(self) -> None:
        """Finish what was accepted, within the shutdown time limit."""
        self.is_ready = False
        await self.batcher.close(self.options.shutdown_time_limit_s)

    async def run(self, request: Request, works: Sequence[Work]) -> list[Any]:
        """Wait for the results of a request, unless its time or its client's patience ends.

        Args:
            request: The request; when its client disconnects, waiting works are dropped.
            works: What to do.

        Returns:
            One result per work, in order; some may be errors of the library.

        Raises:
            Problem: If the queue is full (429), the time ran out (504), the server is stopping
                (503), or the client went away (499, which nobody sees).
        """
        limit_s = self.options.time_limit_s
        task = asyncio.ensure_future(self.batcher.submit(works, time_limit_s=limit_s))
        watch = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Problem(499, "the client went away", kind="client_closed")
            return task.result()
        except asyncio.TimeoutError:
            late = TimeLimitError(
                f"the request took longer than {limit_s:g} s and was dropped; send fewer texts at "
                "once, or start the server with a higher --time-limit"
            )
            raise from_sumfit_error(late) from None
        except OverloadedError as error:
            wait_s = self.batcher.retry_after_s()
            raise from_sumfit_error(error, retry_after_s=wait_s) from None
        except ServiceError as error:
            raise Problem(503, str(error), retry_after_s=1) from None
        finally:
            watch.cancel()
            task.cancel()
            await asyncio.gather(task, watch, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
