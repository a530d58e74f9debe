"""Jobs of several processes: their ranks, their start and their end."""
