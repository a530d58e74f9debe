"""Sweep of ops: compares every TensorFlow op that the HPU supports with the CPU, on generated arguments."""
