"""What a process costs that only imports the library that a run stands on, and NumPy with it."""

import netCDF4  # noqa: F401
