"""Training of rerankers: recipes, data, the loop, and directories made from checkpoints."""
