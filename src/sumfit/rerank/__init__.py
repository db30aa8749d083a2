"""sumfit.rerank."""
