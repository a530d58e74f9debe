"""What the public modules are made of: no interface for programs."""
