"""Kernels on the HPU: data flow, lists, variables."""
