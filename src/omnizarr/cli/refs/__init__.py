"""`oz refs`: reference sets, one module for each action."""
