"""Scenarios: the catalogue of mechanisms, and networks built in Python."""
