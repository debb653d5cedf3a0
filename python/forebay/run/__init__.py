"""Runs: jobs handed to the engine, their results, sweeps, and the files that keep them."""
