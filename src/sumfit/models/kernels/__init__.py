"""Triton kernels of the network; imported on CUDA only."""
