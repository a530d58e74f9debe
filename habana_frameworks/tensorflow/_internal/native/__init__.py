"""The plugin's shared library and its C interface."""
