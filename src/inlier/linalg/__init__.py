"""Linear algebra on passes over the rows: eigenpairs, centers, metrics."""
