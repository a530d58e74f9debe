"""Jobs of several processes: ranks, start and termination."""
