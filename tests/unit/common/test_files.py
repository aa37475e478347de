from __future__ import annotations

import hashlib

import pytest

from zlbench_core.common.files import read_object, read_whole, sha256_of
from zlbench_core.errors import ReadError


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 17) + 1])
def test_a_file_is_read_to_its_end_whatever_its_size(tmp_path, size):
    content = bytes(number % 251 for number in range(size))
    (tmp_path / "file").write_bytes(content)
    assert read_whole(tmp_path / "file") == content
    assert sha256_of(tmp_path / "file") == hashlib.sha256(content).hexdigest()


def test_a_folder_where_a_file_should_be_is_told_by_its_path(tmp_path):
    with pytest.raises(
        ReadError, match=rf"^header {tmp_path} cannot be read: .*Is a directory: '{tmp_path}'$"
    ):
        read_object(tmp_path, ReadError, what="header")
