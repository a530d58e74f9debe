"""Test suites, one directory per subject. tests.support contains the shared helpers."""
