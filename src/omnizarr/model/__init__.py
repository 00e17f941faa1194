"""The neutral model: what an array and a group are, whatever dialect wrote them; frozen, and without any I/O."""
