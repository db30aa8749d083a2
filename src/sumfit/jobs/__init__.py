"""File jobs: ``sumfit summarize big.parquet -o out.parquet``, in several processes, resumable.

`run_job` is what the command line calls. A job keeps its finished parts in ``OUTPUT.job`` beside
the output until the output is complete; the same command after a crash goes on from there.
"""

from sumfit.jobs.job import JobReport, run_job
from sumfit.jobs.spec import JobSpec

__all__ = ["JobReport", "JobSpec", "run_job"]
