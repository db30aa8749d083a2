"""Text and limit in, fitting summary out: `Summarizer`, its options, and the drop-in call.

``sumfit.pipeline`` is both this package and, called, the drop-in for
``transformers.pipeline("summarization")``.
"""

import sys
from types import ModuleType
from typing import Any

from sumfit.pipeline.dropin import SummarizationPipeline, SummaryRecord, pipeline
from sumfit.pipeline.inspection import Inspection
from sumfit.pipeline.options import Options
from sumfit.pipeline.summarizer import Summarizer
from sumfit.pipeline.warming import warm_up

__all__ = [
    "Inspection",
    "Options",
    "SummarizationPipeline",
    "Summarizer",
    "SummaryRecord",
    "pipeline",
    "warm_up",
]


class _CallableModule(ModuleType):
    """A module that can be called: ``sumfit.pipeline("summarization")``."""

    def __call__(self, *args: Any, **keywords: Any) -> SummarizationPipeline:
        """See `sumfit.pipeline.dropin.pipeline`."""
        return pipeline(*args, **keywords)


sys.modules[__name__].__class__ = _CallableModule
