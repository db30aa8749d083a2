"""The documented place of `PathSampler`, which `sumfit.decoding.methods.sampling` has."""

from sumfit.decoding.methods.sampling import PathSampler

__all__ = ["PathSampler"]
