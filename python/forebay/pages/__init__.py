"""Pages of results: the page that everything fills in, its sections, and that of sweeps."""
