"""Long work on the workers of a Dask cluster, along the stored units of its target."""
