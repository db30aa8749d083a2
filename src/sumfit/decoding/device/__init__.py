"""Decoders for batches of graphs on a torch device, a GPU above all; they need torch."""
