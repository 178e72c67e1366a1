"""The empty HDF5 file that every result grows from.

netCDF's own `create` writes a hidden attribute `_NCProperties` with the versions of netCDF and HDF5 into the
file and offers no way to leave it out (netcdf-c 4.10.1, `NC4_write_provenance`), but the same grid must give
the same bytes with any library version. Opening an existing file for changes writes no such attribute. So a
result starts as these 239 bytes and is opened "r+".

They are what HDF5 writes for an empty file with the format bounds v1.8 and tracked, indexed creation order of
links and attributes (which netCDF requires of a file that it changes) and no times; `h5py.File(name, "w",
libver=("v108", "v108"), track_order=True)` gives them. Layout: HDF5 File Format Specification 3.0, II.A and
IV.A.
"""

_UNDEFINED = b"\xff" * 8

_SUPERBLOCK = (
    b"\x89HDF\r\n\x1a\n"
    + bytes([2, 8, 8, 0])  # superblock version 2; 8-byte offsets and lengths; no flags
    + (0).to_bytes(8, "little")  # base address
    + _UNDEFINED  # no superblock extension
    + (239).to_bytes(8, "little")  # end of file
    + (48).to_bytes(8, "little")  # address of the root group
    + bytes.fromhex("9433450f")  # checksum
)

_ROOT_GROUP = (
    b"OHDR"
    + bytes([2, 0x0C, 180])  # object header version 2; attribute creation order tracked and indexed; 180 bytes follow
    + bytes([2, 34, 0, 0, 0, 0])  # link info message of 34 bytes:
    + bytes([0, 3])  # version 0; link creation order tracked and indexed
    + (0).to_bytes(8, "little")  # next creation order index
    + _UNDEFINED * 3  # no heap and no index yet
    + bytes([10, 2, 0, 1, 0, 0, 0, 0])  # group info message, default
    + bytes([0, 126, 0, 0, 0, 0])  # free room of 126 bytes
    + bytes(126)
    + bytes.fromhex("6328ac1c")  # checksum
)

EMPTY_FILE = _SUPERBLOCK + _ROOT_GROUP
