"""Kernels and lowerings of ops on the HPU, compared with the CPU's kernels."""
