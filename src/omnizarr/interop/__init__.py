"""At home in other packages: what they need to open, hold and write arrays of Omnizarr."""
