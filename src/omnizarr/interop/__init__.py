"""Where other libraries meet Omnizarr; each is imported only when it is asked for."""
