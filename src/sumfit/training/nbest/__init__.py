"""N-best lists to train rerankers on: what they hold, how they are made, where they are kept."""
