"""Suites: published evaluations as cells of data, run for laws of one's own beside a baseline."""
