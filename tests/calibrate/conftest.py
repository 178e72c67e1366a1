"""Files of this room's tests."""

import pytest


@pytest.fixture
def saved(tmp_path):
    """A function that saves a text, or bytes, under a name and gives the path."""

    def save(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return save
