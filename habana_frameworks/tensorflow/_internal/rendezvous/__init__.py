"""Rendezvous of a job's processes for hvd.init()."""
