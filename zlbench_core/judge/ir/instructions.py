"""Sorts machine instructions into classes, so that two binaries can be compared by what they do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

Classes = tuple[tuple[str, re.Pattern[str]], ...]


def _classes(**words: str) -> Classes:
    """Classes from words that a mnemonic begins with; a word with "!" is the whole of it up to a dot."""
    return tuple(
        (name, re.compile("|".join(w.replace("!", r"\b") for w in s.split()))) for name, s in words.items()
    )


# The first class that matches wins.
# SASS as in "Instruction Set Reference" of NVIDIA's CUDA Binary Utilities, Volta to Blackwell.
SASS = _classes(
    nop="NOP",
    float="U?[FHD](ADD|MUL|FMA|SET|MNMX|SEL|CHK|SWZADD) MUFU",
    mma="[HIDBQO]MMA [HIBQ]GMMA UTC[A-Z]*MMA",
    async_copy="LDGSTS LDGDEPBAR UTMALDG UTMASTG UTMAPF UTMACMDFLUSH UBLKCP UBLKPF",
    atomic="ATOM RED! REDG REDS UTMAREDG",
    shared_load="LDS",
    shared_store="STS",
    local_load="LDL",
    local_store="STL",
    constant_load="U?LDC",
    global_load="LDG LD!",
    global_store="STG ST!",
    tensor_memory="LDTM STTM UTC",
    cross_lane="SHFL MOVM VOTE MATCH C?REDUX",
    sync="BAR U?MEMBAR DEPBAR ERRBAR CGAERRBAR FENCE SYNCS U?WARP ARRIVES CCTL UCGABAR NANOSLEEP ACQBULK",
    control="U?BR[AX] JM[PX] EXIT CALL RET BSSY BSYNC BREAK BMOV YIELD KILL RPCMOV BPT ELECT LEPC",
    convert="U?(F2|I2F|I2I|FRND)",
    integer=(
        "U?(IADD|IMAD|IMUL|ISETP|IABS|IDP|LEA|P?LOP|SHF|SHL|SHR|SEL|MOV|BMSK|BREV|FLO|POPC|SGXT|PRMT|P2R|R2P)"
        " V[A-Z]*ADD VABSDIFF V?IMNMX CS2R S2U?R R2UR PSETP"
    ),
)

# "AMD Instinct MI300 Instruction Set Architecture", and LLVM's AMDGPU assembler for the other spellings.
GCN = _classes(
    nop="s_nop s_code_end",
    mma="v_mfma v_smfmac v_wmma v_swmmac",
    async_copy="global_load_lds buffer_load_lds global_load_async tensor_load",
    atomic="(global|flat|buffer)_atomic ds_(add|sub|cmpst|cmpstore|min|max|and|or|xor|wrxchg|inc|dec)",
    cross_lane="ds_b?permute ds_swizzle v_readlane v_writelane v_readfirstlane v_permlane",
    shared_load="ds_read ds_load",
    shared_store="ds_write ds_store",
    local_load="scratch_load",
    local_store="scratch_store",
    constant_load="s_load s_buffer_load",
    global_load="global_load flat_load buffer_load",
    global_store="global_store flat_store buffer_store",
    sync="s_barrier s_wait s_sendmsg s_sleep s_setprio s_sched s_delay buffer_(wb|inv|gl) global_(wb|inv)",
    control="s_c?branch s_endpgm s_setpc s_swappc s_getpc s_call s_trap",
    convert="v_(pk_)?cvt",
    float=r"v_\w*_(f16|f32|f64|bf16)",
    integer="v_",
    scalar="s_",
)


def count_by_class(mnemonics: Iterable[str], classes: Classes) -> dict[str, int]:
    """How many instructions of each class there are, "other" for those of none; no class with 0."""
    return dict(sorted(Counter(_class_of(mnemonic, classes) for mnemonic in mnemonics).items()))


def sass_mnemonics(instructions: Iterable[str]) -> list[str]:
    """The mnemonics of instructions as nvdisasm prints them, without their predicates."""
    return [re.sub(r"^@!?U?P\w+\s+", "", instruction).split(maxsplit=1)[0] for instruction in instructions]


def gcn_mnemonics(assembly: str) -> list[str]:
    """The mnemonics of the code in an AMDGPU assembler text: its directives, labels and comments are none."""
    return re.findall(r"^\s+([a-z]+_[a-z0-9_]+)\b", assembly, re.MULTILINE)


def _class_of(mnemonic: str, classes: Classes) -> str:
    return next((name for name, pattern in classes if pattern.match(mnemonic)), "other")
