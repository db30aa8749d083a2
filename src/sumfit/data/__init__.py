"""Text-summary pairs: reading files, packing token ids, planning and building batches.

Nothing here needs torch; arrays become tensors in `sumfit.training`.
"""
