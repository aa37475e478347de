from __future__ import annotations

from pathlib import Path

import pytest

from zlbench_core.ir.normalise import normalise, readable

TTGIR = """\
#blocked = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
#loc = loc("{path}":{line}:1)
#loc1 = loc("x"(#loc))
module attributes {{"ttg.num-warps" = 4 : i32}} {{
  tt.func public @add(%x: !tt.ptr<f32> loc("x"(#loc))) {{
    %{name} = tt.get_program_id x : i32 loc(callsite(#loc1 at fused<"a(b">[#loc, "c)d"({line}:2)]))
    %{name}_0 = {op} %{name}, %{name} : i32 loc(#loc2)
    tt.print "loc(kept)": %{name}_0 : i32 loc(#loc2)
    tt.return loc(#loc)
  }} loc(#loc)
}} loc(#loc)
#loc2 = loc("{path}":{line}:9)
"""


def ttgir(path: str = "/a/x.py", line: int = 3, name: str = "pid", op: str = "arith.addi") -> bytes:
    return TTGIR.format(path=path, line=line, name=name, op=op).encode()


def test_a_moved_checkout_and_a_renamed_variable_leave_the_same_ttgir() -> None:
    assert normalise("ttgir", ttgir()) == normalise("ttgir", ttgir("/b/y.py", 9, "block"))


def test_one_changed_operation_is_another_ttgir() -> None:
    assert normalise("ttgir", ttgir()) != normalise("ttgir", ttgir(op="arith.muli"))


def test_swapped_operands_are_another_ttgir() -> None:
    module = "tt.func @f(%a: i32, %b: i32) {{\n %c = arith.subi {} : i32\n}}\n"
    one, other = (module.format(operands).encode() for operands in ("%a, %b", "%b, %a"))
    assert normalise("ttgir", one) != normalise("ttgir", other)


def test_a_string_that_looks_like_a_location_is_kept() -> None:
    text = readable("ttgir", ttgir())
    assert '"loc(kept)"' in text
    assert text.count("loc(") == 1
    assert "    %pid = tt.get_program_id x : i32\n" in text
    assert "/a/x.py" not in text


def test_an_operation_whose_name_ends_in_loc_is_kept() -> None:
    line = b"tt.func @f() {\n  %a = ttg.local_alloc(%b) : i32\n  call @loc(%a) loc(#loc)\n}\n"
    assert readable("ttgir", line).splitlines()[1:3] == [
        "  %a = ttg.local_alloc(%b) : i32",
        "  call @loc(%a)",
    ]


def test_values_of_two_functions_are_numbered_apart() -> None:
    two = "tt.func @f(%{0}: i32) {{\n}}\ntt.func @g(%{1}: i32) {{\n}}\n"
    assert normalise("ttir", two.format("a", "a").encode()) == normalise(
        "ttir", two.format("a", "b").encode()
    )


LLIR_DEBUG = """\
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-i64:64"
define void @f(i32 %0) #0 !dbg !4 {
  #dbg_value(i32 %0, !5, !DIExpression(), !6)
  %2 = call i32 asm "mov.u32 $0, 0; // ; kept", "=r"(), !dbg !6
  br label %3, !dbg !6, !llvm.loop !7
3:                                                ; preds = %1
  ret void, !dbg !6
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1)
!1 = !DIFile(filename: "k.py", directory: "/tmp")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "f", scope: !1, unit: !0)
!5 = !DILocalVariable(name: "x", scope: !4)
!6 = !DILocation(line: 9, column: 2, scope: !4)
!7 = distinct !{!7, !6, !6, !8}
!8 = !{!"llvm.loop.unroll.count", i32 4}
"""
LLIR_PLAIN = """\
; ModuleID = 'LLVMDialectModule'
target datalayout = "e-i64:64"
define void @f(i32 %0) #0 {
  %2 = call i32 asm "mov.u32 $0, 0; // ; kept", "=r"()
  br label %3, !llvm.loop !1
3:                                                ; preds = %1
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.unroll.count", i32 4}
"""


def test_llvm_ir_with_and_without_debug_information_is_the_same() -> None:
    assert normalise("llir", LLIR_DEBUG.encode()) == normalise("llir", LLIR_PLAIN.encode())
    assert "// ; kept" in readable("llir", LLIR_DEBUG.encode())


def test_a_changed_loop_property_is_another_llvm_ir() -> None:
    changed = LLIR_DEBUG.replace('unroll.count", i32 4', 'unroll.count", i32 8')
    assert normalise("llir", LLIR_DEBUG.encode()) != normalise("llir", changed.encode())


PTX = """\
.version 8.7
.target sm_90a
.visible .entry add()
{
	.loc	1 8 0                           // k.py:8:0
$L__func_begin0:
$L__BB0_1:
	mov.b32 	%r1, {value};
	bra 	$L__BB0_1;
$L__tmp1:
}
	.file	1 "/tmp/k.py"
	.section	.debug_str
	{
.b8 47
	}
"""


def test_ptx_differs_by_an_instruction_and_not_by_its_line_table() -> None:
    bare = "\n".join(
        line for line in PTX.splitlines() if not line.startswith(("\t.loc", "$L__func", "$L__tmp"))
    )
    bare = bare[: bare.index("\t.file")]
    assert normalise("ptx", PTX.encode()) == normalise("ptx", bare.encode())
    assert normalise("ptx", PTX.encode()) != normalise("ptx", PTX.replace("{value}", "1").encode())
    assert "$L__BB0_1:" in readable("ptx", PTX.encode())


def test_a_marker_label_that_code_refers_to_is_kept() -> None:
    text = PTX.replace("bra 	$L__BB0_1", "bra 	$L__tmp1")
    assert "$L__tmp1:" in readable("ptx", text.encode())


@pytest.mark.parametrize("target", ["cuda", "hip"])
def test_a_compiled_stage_of_a_moved_checkout_differs_in_bytes_and_not_in_code(
    compiled: Path, target: str
) -> None:
    for variant in (compiled / "base" / target / "ir" / "scale").iterdir():
        for stage in (path for path in variant.iterdir() if path.suffix != ".json"):
            other = compiled / "moved" / target / "ir" / "scale" / variant.name / stage.name
            assert stage.read_bytes() != other.read_bytes(), stage.name
            assert normalise(stage.name, stage.read_bytes()) == normalise(stage.name, other.read_bytes()), (
                stage.name
            )


def test_a_changed_byte_of_code_is_another_cubin(compiled: Path) -> None:
    path = next((compiled / "base" / "cuda" / "ir" / "mm").glob("*/cubin"))
    data = bytearray(path.read_bytes())
    sections = dict(
        line.split()[:2] for line in readable("cubin", bytes(data)).splitlines() if " bytes " in line
    )
    assert ".text.mm" in sections
    code = data.index((0x7B82).to_bytes(2, "little"))  # LDC, the first instruction of every kernel of sm_90
    data[code + 3] ^= 1
    assert normalise("cubin", bytes(data)) != normalise("cubin", path.read_bytes())


def test_a_damaged_or_unknown_binary_is_compared_whole(compiled: Path) -> None:
    cubin = next((compiled / "base" / "cuda" / "ir" / "mm").glob("*/cubin")).read_bytes()
    for data in (cubin[:200], b"\x7fELF", b"\x00\xff\x01 spirv"):
        assert normalise("cubin", data) == data
        assert readable("cubin", data) == f"{len(data)} bytes of cubin\n"


SIBLINGS = """
module {
  tt.func public @k(%x: f32) {
    %first = "tt.reduce"(%x) ({
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tt.reduce.return %sum : f32
    }) : (f32) -> f32
    %second, %third = "tt.reduce"(%first) ({
    ^bb0(%NAMES):
      %SUM = arith.addf %LEFT, %RIGHT : f32
      tt.reduce.return %SUM : f32
    }) : (f32) -> (f32, f32)
    %fourth = arith.addf %second, %third : f32
  }
}
"""


def _siblings(left: str, right: str, total: str, first: str = "", second: str = "") -> bytes:
    text = SIBLINGS.replace("%NAMES", f"%{left}: f32, %{right}: f32").replace("%SUM", f"%{total}")
    return text.replace("%LEFT", f"%{first or left}").replace("%RIGHT", f"%{second or right}").encode()


def test_a_name_that_a_sibling_region_uses_again_is_another_value() -> None:
    # Without line info the printer numbers values, and takes a number again once its region has ended.
    reused = normalise("ttir", _siblings("a", "b", "sum"))
    assert reused == normalise("ttir", _siblings("c", "d", "total"))
    assert reused != normalise("ttir", _siblings("a", "b", "sum", first="b", second="a"))
    assert reused != normalise("ttir", _siblings("a", "b", "sum", second="first"))


def test_no_mark_of_ours_stays_in_the_text() -> None:
    assert b"\x00" not in normalise("ttir", _siblings("a", "b", "sum"))
