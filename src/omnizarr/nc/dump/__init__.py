"""Datasets as text: CDL as ncdump prints it, NcML, and JSON. Reading CDL is in `omnizarr.nc.cdl`."""
