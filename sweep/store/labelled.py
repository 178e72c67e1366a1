"""A result file as an xarray Dataset; apart from `read`, since importing xarray outlasts a whole answer."""

from pathlib import Path

import xarray as xr

from sweep.errors import ResultFault
from sweep.store.read import open_file


def open_dataset(path: str | Path) -> xr.Dataset:
    """Open a result lazily with nothing decoded, so that every integer stays the integer that was written.

    Values beyond int64 keep their two limbs along dimension `limb`; `ResultFile.read` joins them.

    Raises:
        ResultFault: as `open_file`.
    """
    with open_file(path):
        pass
    try:
        return xr.open_dataset(
            Path(path).resolve(),
            engine="netcdf4",
            mask_and_scale=False,
            decode_times=False,
            decode_timedelta=False,
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise ResultFault(f"{path}: xarray cannot open it ({error}); make it anew with `sweep run`.") from error
