"""Tests, each directory beside what it tests; tests.support holds what they share."""
