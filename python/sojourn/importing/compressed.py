"""Files that gzip, bzip2, xz, zstd or lz4 compressed, a part at a time."""

from __future__ import annotations

import bz2
import itertools
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_PART_BYTES = 1 << 20
_NATIVE = {
    b"\x28\xb5\x2f\xfd": True,
    b"\x04\x22\x4d\x18": False,
}
"""First bytes of content that the native module decompresses, and whether it is zstd's."""


class CutError(Exception):
    """The compressed content is damaged or ends early."""


def plain(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The decompressed content of a file; that of an uncompressed file is unchanged.

    Several compressed files in a row are read one after the other, and zeros behind the last are
    padding, as in gzip(1).

    Args:
        blocks: the bytes of the file.

    Raises:
        CutError: it is damaged, or ends early; the content before has been yielded.
    """
    blocks = iter(blocks)
    decoder: Any = None
    make: Callable[[], Any] | None = None
    is_first = True
    for block in blocks:
        if is_first:
            if (magic := block[:4]) in _NATIVE:
                yield from _native(itertools.chain([block], blocks), _NATIVE[magic])
                return
            is_first, make = False, _decompressor(block)
            decoder = make() if make else None
        if make is None:
            yield block
            continue
        try:
            rest = block
            while rest:
                if decoder.eof:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    decoder = make()
                yield from _expanded(decoder, rest)
                rest = decoder.unused_data
        except (zlib.error, lzma.LZMAError, OSError) as error:
            raise CutError(f"its compressed content is damaged ({error})") from None
    if decoder is not None and not decoder.eof:
        raise CutError("its compressed content is cut off")


def _native(blocks: Iterator[bytes], is_zstd: bool) -> Iterator[bytes]:
    from sojourn import _core

    reader = _core.Decompressor(blocks, is_zstd)
    while True:
        try:
            part = reader.read()
        except ValueError as error:
            raise CutError(f"its compressed content {error}") from None
        if not part:
            return
        yield part


def _decompressor(start: bytes) -> Callable[[], Any] | None:
    if start.startswith(b"\x1f\x8b"):
        return lambda: zlib.decompressobj(wbits=31)
    if start.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMADecompressor
    return bz2.BZ2Decompressor if start.startswith(b"BZh") else None


def _expanded(decoder: Any, block: bytes) -> Iterator[bytes]:
    """The expansion of a block, a part at a time: a block may hold a thousand times its size."""
    if isinstance(decoder, bz2.BZ2Decompressor | lzma.LZMADecompressor):
        yield decoder.decompress(block, _PART_BYTES)
        while not decoder.needs_input and not decoder.eof:
            yield decoder.decompress(b"", _PART_BYTES)
        return
    yield decoder.decompress(block, _PART_BYTES)
    while decoder.unconsumed_tail:
        yield decoder.decompress(decoder.unconsumed_tail, _PART_BYTES)
