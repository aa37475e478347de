from __future__ import annotations

import textwrap

import pytest

from zlbench_core.autotune.shapes import plan_shapes

BASE = """
    class Benchmark:
        def __init__(self, op_name, is_backward=False, **kwargs): ...
        def init_user_config(self): self.set_shapes()
        def set_shapes(self): ...
        def set_more_shapes(self): return []
        def get_input_iter(self, dtype): ...
        def run(self): ...

    class Generic(Benchmark):
        def set_more_shapes(self): return [(1 << 20,)]

    class Flat(Generic):
        def set_more_shapes(self): return []

    class Matrix(Benchmark):
        def set_more_shapes(self): return [(8, 1024, 1024, 4096)]

    class Filtered(Benchmark):
        def init_user_config(self):
            super().init_user_config()
            self.shapes = self.shapes[:1]
"""
SHAPES = """
    Benchmark: {shapes: [[1, 2], [3, 4]]}
    Matrix: {shapes: [[1, 64, 64, 64]]}
    own_entry: {shapes: [[7]]}
    own_entry_backward: {shapes: [[9]]}
    Bare: {shape_desc: M}
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "base.py").write_text(textwrap.dedent(BASE))
    (tmp_path / "core_shapes.yaml").write_text(textwrap.dedent(SHAPES))

    def read(source: str, function: str = "test_op"):
        path = tmp_path / "test_op.py"
        path.write_text("import pytest\nfrom . import base\n" + textwrap.dedent(source))
        return plan_shapes(path, function)

    return read


def test_an_operator_with_an_entry_of_its_own_has_those_shapes(plan):
    [one] = plan("def test_op(): base.Generic(op_name='own_entry').run()")
    assert (one.source, one.key, one.shapes) == ("yaml", "own_entry", [[7]])
    assert one.candidates == ("own_entry", "Generic", "Benchmark")
    assert one.reason is None


def test_without_one_the_first_class_of_the_chain_that_has_an_entry_counts(plan):
    source = """
        class Special(base.Matrix):
            pass

        def test_op():
            Special('mm').run()
    """
    [one] = plan(source)
    assert one.chain == ("Special", "Matrix", "Benchmark")
    assert (one.key, one.shapes) == ("Matrix", [[1, 64, 64, 64]])


def test_an_entry_without_shapes_leaves_the_classs_defaults(plan):
    [one] = plan("class Bare(base.Benchmark): pass\ndef test_op(): Bare('x').run()")
    assert (one.source, one.key, one.shapes) == ("default", "Bare", None)
    assert "DEFAULT_SHAPES" in one.reason


@pytest.mark.parametrize(
    ("cls", "extra"),
    [("Generic", "Generic.set_more_shapes"), ("Flat", None), ("Matrix", "Matrix.set_more_shapes")],
)
def test_code_that_adds_shapes_at_comprehensive_level_is_named(plan, cls, extra):
    [one] = plan(f"def test_op(): base.{cls}('x').run()")
    assert one.extra_shapes == extra
    assert one.exact_at("core")
    assert one.exact_at("comprehensive") is (extra is None)


# A5.1: the chain always ends at Benchmark, which has an entry, so a look-up alone always "succeeds".
@pytest.mark.parametrize("method", ["set_shapes", "init_user_config"])
def test_a_class_that_sets_its_shapes_in_code_has_no_shapes_from_the_file(plan, method):
    source = f"""
        class K(base.Generic):
            def {method}(self, *args):
                self.shapes = [(5, 5)]

        def test_op():
            K(op_name='x').run()
    """
    [one] = plan(source)
    assert (one.source, one.shapes, one.key) == ("code", None, None)
    assert one.reason == f"shapes set in code by K.{method} (test_op.py:4)"
    assert one.candidates == ("x", "K", "Generic", "Benchmark")
    assert not one.exact_at("core")


def test_an_override_in_the_base_module_counts_and_the_roots_own_methods_do_not(plan):
    [one] = plan("def test_op(): base.Filtered('x').run()")
    assert (one.source, one.reason) == (
        "code",
        "shapes set in code by Filtered.init_user_config (base.py:19)",
    )
    [root] = plan("def test_op(): base.Benchmark('x').run()")
    assert root.source == "yaml"


# A5.2: never the first literal found elsewhere in the file.
def test_an_op_name_that_comes_through_a_helper_is_unresolved_by_name(plan):
    source = """
        class K(base.Generic): pass

        def _other():
            K(op_name='own_entry').run()

        def _go(name, f):
            K(op_name=name, torch_op=f).run()

        def test_op():
            _go('x_', abs)
    """
    [one] = plan(source)
    assert (one.source, one.op_name, one.shapes) == ("unresolved", None, None)
    assert one.reason == "op_name is `name` in line 10, not a literal"
    assert one.candidates == ("K", "Generic", "Benchmark")


def test_a_helper_that_names_the_operator_itself_is_followed(plan):
    source = """
        def _twice():
            base.Generic('own_entry').run()
            base.Generic('own_entry', is_backward=True).run()
            base.Generic('own_entry_backward', is_backward=True).run()

        def test_op():
            _twice()
    """
    assert [(one.op_name, one.shapes) for one in plan(source)] == [
        ("own_entry", [[7]]),
        ("own_entry_backward", [[9]]),
        ("own_entry_backward", [[9]]),
    ]


def test_helpers_that_call_each_other_end(plan):
    [one] = plan("def a(): b()\ndef b(): a()\ndef test_op(): a()")
    assert one.reason == "no benchmark is built in test_op"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("base.Generic(op_name=f'x_{kind}')", "op_name is `f'x_{kind}'`"),
        ("base.Generic(kind)", "op_name is `kind`"),
        ("base.Generic(**options)", "no op_name is given"),
        ("base.Generic(*options)", "no op_name is given"),
        ("base.Generic('x', is_backward=kind)", "is_backward is `kind`"),
        ("kind(op_name='own_entry')", "kind is no class of test_op.py or of the base module"),
        ("base.Gone(op_name='own_entry')", "base.Gone is no class of test_op.py or of the base module"),
    ],
)
def test_what_is_only_known_when_it_runs_is_unresolved_by_name(plan, body, told):
    source = f"@pytest.mark.parametrize('kind', [1])\ndef test_op(kind, options=()):\n    {body}.run()"
    [one] = plan(source)
    assert (one.source, one.shapes) == ("unresolved", None)
    assert one.reason.startswith(told)


def test_a_class_that_sets_shapes_under_an_unknown_name_says_both(plan):
    source = """
        class K(base.Generic):
            def set_shapes(self): self.shapes = []

        def test_op(name='x'):
            K(op_name=name).run()
    """
    [one] = plan(source)
    assert one.source == "code"
    assert one.reason.endswith("; op_name is `name` in line 8, not a literal")


# A5.3: function, marker and op_name are three different names.
def test_the_operator_is_what_the_functions_constructor_says(plan):
    source = """
        @pytest.mark.skipif(False, reason='')
        @pytest.mark.m1
        @pytest.mark.m2
        def test_perf_z():
            base.Generic(op_name='z2').run()

        def test_other():
            base.Generic(op_name='own_entry').run()
    """
    [one] = plan(source, "test_perf_z")
    assert (one.function, one.marker, one.op_name) == ("test_perf_z", "m1", "z2")


def test_a_test_method_is_found_in_its_class(plan):
    [one] = plan("class TestGroup:\n    def test_op(self): base.Generic('own_entry').run()")
    assert one.shapes == [[7]]


# A5.4: nested classes, a mixin in front, a local class with a base class's name.
def test_a_class_defined_in_the_function_is_found(plan):
    source = """
        def test_op():
            class Inner(base.Matrix):
                def __init__(self):
                    super().__init__('own_entry')

            Inner().run()
    """
    [one] = plan(source)
    assert (one.op_name, one.chain, one.shapes) == ("own_entry", ("Inner", "Matrix", "Benchmark"), [[7]])


def test_a_mixin_in_front_is_asked_first(plan):
    source = """
        class Trim:
            def set_shapes(self):
                super().set_shapes()
                self.shapes = self.shapes[:1]

        class K(Trim, base.Generic):
            pass

        def test_op():
            K('own_entry').run()
    """
    [one] = plan(source)
    assert one.chain == ("K", "Trim", "Generic", "Benchmark")
    assert one.reason == "shapes set in code by Trim.set_shapes (test_op.py:4)"


def test_a_diamond_is_walked_in_method_resolution_order(plan):
    source = """
        class Left(base.Matrix): pass
        class Right(base.Matrix): pass
        class K(Left, Right): pass

        def test_op(): K('x').run()
    """
    [one] = plan(source)
    assert one.chain == ("K", "Left", "Right", "Matrix", "Benchmark")


def test_a_local_class_shadows_the_base_modules_class_of_its_name(plan):
    source = """
        from .base import Matrix

        def test_op():
            class Matrix(Matrix):
                def set_shapes(self): self.shapes = []

            Matrix('x').run()

        def test_outer():
            Matrix('x').run()
    """
    [inner] = plan(source)
    assert inner.chain == ("Matrix", "Matrix", "Benchmark")
    assert inner.source == "code"
    [outer] = plan(source, "test_outer")
    assert (outer.chain, outer.key) == (("Matrix", "Benchmark"), "Matrix")


def test_a_base_class_from_elsewhere_is_unresolved_by_name(plan):
    source = """
        from .tools import Mixin

        class K(Mixin, base.Generic): pass

        def test_op(): K('own_entry').run()
    """
    [one] = plan(source)
    assert (one.source, one.reason) == (
        "unresolved",
        "Mixin is no class of test_op.py or of the base module",
    )


def test_a_function_that_is_not_there_is_unresolved(plan):
    [one] = plan("def test_op(): pass", "test_gone")
    assert one.reason == "test_op.py has no function test_gone"


def test_a_plan_is_json(plan):
    [one] = plan("def test_op(): base.Matrix(op_name='x').run()")
    assert one.to_json()["shapes"] == [[1, 64, 64, 64]]
    assert one.to_json()["candidates"] == ("x", "Matrix", "Benchmark")


def test_inputs_that_are_made_without_the_shapes_are_set_in_code(plan):
    [one] = plan(
        """
        class Own(base.Generic):
            def get_input_iter(self, dtype):
                for size in (10, 20):
                    yield size

        def test_op(): Own(op_name='own_entry').run()
        """
    )
    assert (one.source, one.shapes) == ("code", None)
    assert "Own.get_input_iter (test_op.py:4)" in one.reason


def test_an_iterator_that_hands_on_to_its_base_walks_the_shapes(plan):
    [one] = plan(
        """
        class Own(base.Generic):
            def get_input_iter(self, dtype):
                yield from super().get_input_iter(dtype)

        def test_op(): Own(op_name='own_entry').run()
        """
    )
    assert one.source == "yaml"
