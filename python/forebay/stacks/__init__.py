"""Stacks on networks: a table of protocol stacks, each on every network, with replications."""
