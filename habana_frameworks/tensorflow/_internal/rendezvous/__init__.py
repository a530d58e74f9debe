"""Rendezvous of a job's processes."""
