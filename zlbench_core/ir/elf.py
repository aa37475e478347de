"""The code and data of an ELF device binary: a reader of section headers, symbols and relocations.

Written on the standard library alone, because it runs inside benchmark processes too, whose Python belongs to
a device vendor and has nothing of ours installed.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

MAGIC = b"\x7fELF"
_ALLOC = 0x2
_STRTAB, _SYMTAB, _RELA, _HASH, _DYNAMIC, _NOBITS, _REL, _DYNSYM = 3, 2, 4, 5, 6, 8, 9, 11
_GNU_HASH = 0x6FFFFFF6
_LINKING = {_STRTAB, _SYMTAB, _DYNSYM, _HASH, _GNU_HASH, _DYNAMIC}
_SECTION_SYMBOL = 3


@dataclass(frozen=True)
class Section:
    name: str
    type: int
    flags: int
    size: int
    link: int
    content: bytes  # empty for a section that only reserves memory


@dataclass(frozen=True)
class Symbol:
    name: str
    section: int
    value: int
    size: int


class Elf:
    """A 64-bit little-endian ELF file. Raises ValueError when it is not one, or cut off."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != MAGIC + b"\x02\x01":
            raise ValueError("not a 64-bit little-endian ELF file")
        try:
            self.machine, self.flags = (
                struct.unpack_from("<H", data, 18)[0],
                struct.unpack_from("<I", data, 48)[0],
            )
            self.sections = _sections(data)
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise ValueError(f"a damaged ELF file: {error}") from None

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The symbol table; empty in a stripped file. A symbol that stands for a section has its name."""
        table = next((section for section in self.sections if section.type == _SYMTAB), None)
        if table is None:
            return []
        names = self.sections[table.link].content
        return [self._symbol(entry, names) for entry in struct.iter_unpack("<IBBHQQ", table.content)]

    def _symbol(self, entry: tuple[int, ...], names: bytes) -> Symbol:
        name, info, _, section, value, size = entry
        text = _string(names, name)
        if not text and info & 0xF == _SECTION_SYMBOL and section < len(self.sections):
            text = self.sections[section].name
        return Symbol(text, section, value, size)


def listing(data: bytes) -> str:
    """One line for each section that is loaded or says how to launch, with the sha256 of its content.

    Left out: debug sections, string and symbol tables, the tables that only serve the linker, and the flags
    of the header, in which a Blackwell cubin says that it has line tables (the text stages name the target).
    Relocations and launch attributes are written with the names of their symbols, whose numbers depend on how
    many debug sections there are. `.nv.info` stays because it holds the register count, which nothing else
    tells. Raises ValueError when the file is damaged.
    """
    elf = Elf(data)
    try:
        return "".join(f"{line}\n" for line in [f"machine {elf.machine}", *_section_lines(elf)])
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"a damaged ELF file: {error}") from None


def _section_lines(elf: Elf) -> Iterator[str]:
    for section in elf.sections:
        if section.flags & _ALLOC and section.type not in _LINKING:
            held = "reserved" if section.type == _NOBITS else hashlib.sha256(section.content).hexdigest()
            yield f"{section.name} {section.size} bytes {held}"
            yield from _relocation_lines(elf, section.name)
        elif section.name.startswith(".nv.info"):
            for kind, raw in attributes(section):
                yield f"{section.name} {_NAMES.get(kind, f'{kind:#x}')} {_value(elf, kind, raw)}"


MIN_STACK_SIZE, REGCOUNT, _EXTERNS = 0x12, 0x2F, 0x0F
# As `cuobjdump -elf` names them; what is not here is written as its number.
_NAMES = {
    0x0A: "PARAM_CBANK",
    _EXTERNS: "EXTERNS",
    0x10: "REQNTID",
    0x11: "FRAME_SIZE",
    MIN_STACK_SIZE: "MIN_STACK_SIZE",
    0x17: "KPARAM_INFO",
    0x19: "CBANK_PARAM_SIZE",
    0x1B: "MAXREG_COUNT",
    0x1C: "EXIT_INSTR_OFFSETS",
    0x23: "MAX_STACK_SIZE",
    REGCOUNT: "REGCOUNT",
    0x36: "SW_WAR",
    0x37: "CUDA_API_VERSION",
}
_OF_SYMBOL = {0x0A, 0x11, MIN_STACK_SIZE, 0x23, REGCOUNT}  # the value begins with the index of a symbol
_SIZED = 4


def attributes(section: Section) -> list[tuple[int, bytes]]:
    """The (attribute, value) pairs of a `.nv.info` section: form, attribute, then a value or its size."""
    found, position = [], 0
    while position + 4 <= len(section.content):
        form, attribute, value = struct.unpack_from("<BBH", section.content, position)
        position += 4
        if form == _SIZED:
            found.append((attribute, section.content[position : position + value]))
            position += value
        else:
            found.append((attribute, value.to_bytes(2, "little")))
    return found


def notes(section: Section) -> list[tuple[int, bytes]]:
    """The (type, content) pairs of a note section, whose names and contents are padded to 4 bytes."""
    found, position = [], 0
    while position + 12 <= len(section.content):
        name_size, size, kind = struct.unpack_from("<III", section.content, position)
        start = position + 12 + -(-name_size // 4) * 4
        found.append((kind, section.content[start : start + size]))
        position = start + -(-size // 4) * 4
    return found


def _value(elf: Elf, attribute: int, raw: bytes) -> str:
    """A value in hex, the indices of symbols at its start as the symbols' names."""
    named = len(raw) // 4 if attribute == _EXTERNS else int(attribute in _OF_SYMBOL)
    names = [elf.symbols[index].name for (index,) in struct.iter_unpack("<I", raw[: 4 * named])]
    return " ".join([*names, raw[4 * named :].hex()]).rstrip()


def _relocation_lines(elf: Elf, target: str) -> Iterator[str]:
    for section in elf.sections:
        if section.name == f".rela{target}" and section.type == _RELA:
            entries = struct.iter_unpack("<QQq", section.content)
        elif section.name == f".rel{target}" and section.type == _REL:
            entries = ((offset, info, 0) for offset, info in struct.iter_unpack("<QQ", section.content))
        else:
            continue
        for offset, info, addend in entries:
            symbol, kind = elf.symbols[info >> 32], info & 0xFFFFFFFF
            yield f"{target} +{offset:#x} type {kind} {symbol.name} {symbol.value:#x} {addend:+}"


def _sections(data: bytes) -> list[Section]:
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count, names_index = struct.unpack_from("<HHH", data, 58)
    if offset + count * size > len(data):
        raise ValueError("a damaged ELF file: its section table ends after the file")
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + index * size) for index in range(count)]
    if any(kind != _NOBITS and start + length > len(data) for _, kind, _, _, start, length, *_ in headers):
        raise ValueError("a damaged ELF file: a section ends after the file")
    names = data[headers[names_index][4] :] if headers else b""
    return [_section(header, names, data) for header in headers]


def _section(header: tuple[int, ...], names: bytes, data: bytes) -> Section:
    name, kind, flags, _, start, size, link, *_ = header
    content = b"" if kind == _NOBITS else data[start : start + size]
    return Section(_string(names, name), kind, flags, size, link, content)


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode("utf-8")
