"""What Omnizarr is put through besides its tests: hostile input, faults, kills."""
