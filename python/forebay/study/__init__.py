"""Published studies: a paper's claims, the runs that they need, samples and grades."""
