"""Schemas taken apart."""

from __future__ import annotations

import pytest

from kernel_eval.suite.imported.schema import Part, Schema, parse_schema
from kernel_eval.suite.imported.values import default_of


def test_arguments_types_defaults_and_results_are_read() -> None:
    schema = parse_schema(
        'f(Tensor x, Tensor[] w, *, Tensor? b=None, int[]? dims=None, float[2] s=[1.0, 2e-3], str mode="a,b",'
        " bool flag=false, Tensor(a!) out) -> (Tensor y, Tensor[] rest)"
    )
    assert schema == Schema(
        "f",
        (
            Part("Tensor", "x"),
            Part("Tensor", "w", is_list=True),
            Part("Tensor", "b", optional=True, default="None"),
            Part("int", "dims", is_list=True, optional=True, default="None"),
            Part("float", "s", is_list=True, default="[1.0, 2e-3]"),
            Part("str", "mode", default='"a,b"'),
            Part("bool", "flag", default="false"),
            Part("Tensor", "out", written=True),
        ),
        (Part("Tensor", "y"), Part("Tensor", "rest", is_list=True)),
    )
    defaults = [default_of(part) for part in schema.arguments if part.default and not part.is_tensor]
    assert defaults == [None, (1.0, 2e-3), "a,b", False]


def test_an_unnamed_result_gets_a_name() -> None:
    assert parse_schema("f(Tensor x) -> Tensor").results == (Part("Tensor", "output0"),)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "must look like"),
        ("f(Tensor x)", "must look like"),
        ("f(Tensor x) -> ()", "needs a return value"),
        ("f(Tensor x, Tensor x) -> Tensor y", "only once"),
        ("f(Tensor x) -> (Tensor y, Tensor y)", "only once"),
        ("f(Tensor x) -> int n", "tensors only"),
        ("f(complex x) -> Tensor y", "'complex x' is not understood"),
        ("f(Tensor) -> Tensor y", "has no name"),
        ("f(" + ", ".join(f"int a{i}" for i in range(80)) + ") -> Tensor y", "more than 64"),
        ("f(Tensor x" + " " * 5000 + ") -> Tensor y", "longer than"),
    ],
)
def test_a_bad_schema_is_named(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse_schema(text)
