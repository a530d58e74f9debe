"""How a job's processes find each other."""
