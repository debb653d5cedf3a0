"""Reports: HTML pages, README tables and plots, built from files of results alone."""
