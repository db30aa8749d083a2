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

_WARM_UP_LIMIT_S = 600.0
_RETRY_S = 5  # while the server warms up, or waits for a worker
_LONG_RETRY_S = 60  # after a failure that an operator has to mend
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
        self.is_stopping = False
        self.has_failed = False
        self.started_at = int(time.time())
        self.batcher = Batcher(
            partial(run_works, summarizer),
            n_workers=options.n_workers,
            max_batch=options.max_batch,
            queue_size=options.queue_size,
            client_queue_size=options.client_part(options.queue_size),
            n_together=summarizer.backend.batch_size,
            on_batch=metrics.note_batch,
        )
        batcher = self.batcher
        metrics.watch("sumfit_queue_texts", "Texts waiting.", lambda: batcher.n_waiting)
        metrics.watch("sumfit_workers", "Threads that summarise.", lambda: options.n_workers)
        metrics.watch("sumfit_running_batches", "Calls of the model.", lambda: batcher.n_running)
        metrics.watch(
            "sumfit_stuck_workers",
            "Threads at work that is out of time and that nobody waits for.",
            lambda: batcher.n_stuck,
        )

    async def warm_up(self) -> None:
        """Summarise one sentence, so that the first client does not wait for compilation.

        Raises:
            ServiceError: If the model cannot do even that.
        """
        try:
            await self._try_out()
        except Exception:
            self.has_failed = True
            raise
        self.batcher.forget_pace()
        self.is_ready = True

    async def _try_out(self) -> None:
        works = text_works([_WARM_UP], {"max_chars": 40})
        (result,) = await self.batcher.submit(works, time_limit_s=_WARM_UP_LIMIT_S)
        error = result if isinstance(result, SumfitError) else result.error
        if error is not None:
            raise ServiceError(f"the model failed on a test sentence: {error}")

    async def stop(self) -> None:
        """Finish what was accepted, within the shutdown time limit."""
        self.is_ready = False
        self.is_stopping = True
        await self.batcher.close(self.options.shutdown_time_limit_s)

    def check_ready(self) -> None:
        """Check that a request would be begun within its time.

        Raises:
            Problem: If the server is starting or stopping, or every worker is held by work whose
                time is up (503).
        """
        if self.is_stopping:
            raise Problem(
                503,
                "the server is stopping; send the request to another one",
                kind="shutting_down",
                retry_after_s=1,
            )
        if self.has_failed:
            raise Problem(
                503,
                "the model failed its first summary; the operator's log has the reason",
                kind="not_ready",
                retry_after_s=_LONG_RETRY_S,
            )
        if not self.is_ready:
            raise Problem(
                503,
                f"the model is warming up; try again in {_RETRY_S} s",
                kind="not_ready",
                retry_after_s=_RETRY_S,
            )
        if self.batcher.is_stuck:
            raise Problem(
                503,
                f"every worker is held by a request whose time is up; try again in {_RETRY_S} s",
                kind="stuck",
                retry_after_s=_RETRY_S,
            )

    async def run(self, request: Request, works: Sequence[Work]) -> list[Any]:
        """Wait for the results of a request, unless its time or its client's patience ends.

        Args:
            request: The request; when its client disconnects, waiting works are dropped.
            works: What to do.

        Returns:
            One result per work, in order; some may be errors of the library.

        Raises:
            Problem: If the queue is full (429), the time ran out (504), the server cannot begin
                (503), or the client went away (499, which nobody sees).
        """
        self.check_ready()
        limit_s = self.options.time_limit_s
        client = request.scope["state"]["client"]
        task = asyncio.ensure_future(
            self.batcher.submit(works, time_limit_s=limit_s, client=client)
        )
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
            raise Problem(503, str(error), kind="shutting_down", retry_after_s=1) from None
        finally:
            watch.cancel()
            task.cancel()
            await asyncio.gather(task, watch, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
