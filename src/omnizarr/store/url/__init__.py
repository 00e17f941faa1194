"""The URLs of netcdf-c, with their modes, profiles and regions: what `file:///x#mode=nczarr,file` means.

https://docs.unidata.ucar.edu/netcdf-c/current/nczarr_head.html
"""
