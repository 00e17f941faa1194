"""What can be said of a node: of arrays by the model, of groups by a scan of their documents."""
