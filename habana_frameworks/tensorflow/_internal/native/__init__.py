"""The plugin's library and its C interface."""
