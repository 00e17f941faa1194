"""The `oz` command: words for people around the functions of `omnizarr.tools`."""
