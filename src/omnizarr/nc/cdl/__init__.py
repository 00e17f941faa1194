"""CDL, the text form of netCDF datasets: a parser, and a printer that writes what ncdump does."""
