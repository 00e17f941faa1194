"""Work on a cluster, against the peers that do the same."""
