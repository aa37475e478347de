"""The code and data of an ELF device binary: a reader of section headers, symbols and relocations.

Written on the standard library alone, because it runs inside benchmark processes too, whose Python belongs to
a device vendor and has nothing of ours installed.
"""

from __future__ import annotations

import hashlib
import struct
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
    info: int
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


def is_readable(data: bytes) -> bool:
    try:
        return bool(Elf(data).sections)
    except ValueError:
        return False


def listing(data: bytes) -> str:
    """One line for each section that is loaded or says how to launch, with the sha256 of its content.

    Left out: debug sections, string and symbol tables, and the tables that only serve the linker. Relocations
    and launch attributes are written with the names of their symbols, whose numbers depend on how many debug
    sections there are. `.nv.info` stays because it holds the register count, which no other section tells.
    """
    elf = Elf(data)
    lines = [f"machine {elf.machine} flags {elf.flags:#x}"]
    for section in elf.sections:
        if section.flags & _ALLOC and section.type not in _LINKING:
            held = "reserved" if section.type == _NOBITS else hashlib.sha256(section.content).hexdigest()
            lines.append(f"{section.name} {section.size} bytes {held}")
            lines.extend(_relocations(elf, section.name))
        elif section.name.startswith(".nv.info"):
            lines.extend(f"{section.name} {line}" for line in attribute_lines(elf, section))
    return "".join(f"{line}\n" for line in lines)


# The attributes whose values begin with the index of a symbol, by the names that `cuobjdump -elf` prints:
# PARAM_CBANK, FRAME_SIZE, MIN_STACK_SIZE, MAX_STACK_SIZE, REGCOUNT; and EXTERNS, a list of indices.
FRAME_SIZE, MIN_STACK_SIZE, REGCOUNT = 0x11, 0x12, 0x2F
_OF_SYMBOL = {0x0A, FRAME_SIZE, MIN_STACK_SIZE, 0x23, REGCOUNT}
_EXTERNS = 0x0F
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


def attribute_lines(elf: Elf, section: Section) -> list[str]:
    return [
        f"attribute {attribute:#x} {_value(elf, attribute, raw)}" for attribute, raw in attributes(section)
    ]


def _value(elf: Elf, attribute: int, raw: bytes) -> str:
    words = [int.from_bytes(raw[i : i + 4], "little") for i in range(0, len(raw), 4)]
    named = len(words) if attribute == _EXTERNS else int(attribute in _OF_SYMBOL)
    names = [
        elf.symbols[word].name if word < len(elf.symbols) else f"symbol {word}" for word in words[:named]
    ]
    return " ".join([*names, raw[4 * named :].hex()])


def _relocations(elf: Elf, target: str) -> list[str]:
    lines = []
    for section in elf.sections:
        if section.name == f".rela{target}" and section.type == _RELA:
            entries = struct.iter_unpack("<QQq", section.content)
        elif section.name == f".rel{target}" and section.type == _REL:
            entries = ((offset, info, 0) for offset, info in struct.iter_unpack("<QQ", section.content))
        else:
            continue
        for offset, info, addend in entries:
            symbol = elf.symbols[info >> 32]
            lines.append(
                f"{target} +{offset:#x} type {info & 0xFFFFFFFF} {symbol.name} {symbol.value:#x} {addend:+}"
            )
    return lines


def _sections(data: bytes) -> list[Section]:
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count, names_index = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + index * size) for index in range(count)]
    if any(kind != _NOBITS and start + length > len(data) for _, kind, _, _, start, length, *_ in headers):
        raise ValueError("a damaged ELF file: a section ends after the file")
    names = data[headers[names_index][4] :] if headers else b""
    return [_section(header, names, data) for header in headers]


def _section(header: tuple[int, ...], names: bytes, data: bytes) -> Section:
    name, kind, flags, _, start, size, link, info, _, _ = header
    content = b"" if kind == _NOBITS else data[start : start + size]
    return Section(_string(names, name), kind, flags, size, link, info, content)


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode("utf-8")
