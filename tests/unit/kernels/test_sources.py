"""The choice of C pieces: each once, only what is used, under the prefix that was asked for."""

import re

import pytest

from usmp_build.ir.c_types import PLAIN, pool_type
from usmp_build.kernels import sources
from usmp_build.kernels.sources import functions


def test_only_what_is_used() -> None:
    c = sources.choose(["logical_not"], "doorbell")
    assert re.findall(r"\w*doorbell_\w+(?=\()", c.header) == ["doorbell_logical_not"]
    assert set(re.findall(r"\w*doorbell_\w+(?=\()", c.source)) == {"doorbell_logical_not", "doorbell_walk_along"}
    assert c.header.count("struct doorbell_elements {") == 1
    assert "#" not in c.source


def test_each_once_whatever_the_order() -> None:
    c = sources.choose(["conv_2d_s8_row", "softmax_s8", "conv_2d_s8_row", "add_s8"], "doorbell")
    assert c == sources.choose(["add_s8", "softmax_s8", "conv_2d_s8_row"], "doorbell")
    defined = re.findall(r"(?m)^(?:static inline )?\w+ (doorbell_\w+)\(", c.source)
    assert len(defined) == len(set(defined))
    assert defined.index("doorbell_scale") < defined.index("doorbell_conv_2d_s8_row")


def test_the_prefix_replaces_ours_but_not_the_runtimes() -> None:
    c = sources.choose(functions(), "doorbell")
    assert {"usmp_f32"} < set(re.findall(r"usmp_\w+", c.header + c.source)) <= set(map(pool_type, PLAIN))
    assert "USMP" not in c.header  # macros are for the source alone


def test_a_file_is_written_for_one_type_and_there_for_others() -> None:
    """What both share is there once; what has no type in its name stays as it is."""
    c = sources.choose(["leaky_relu_s8", "leaky_relu_s16"], "d")
    assert c.source.count("d_leaky_relu_one(const") == c.header.count("struct d_leaky_relu_parameters {") == 1
    wide = sources.choose(["leaky_relu_s16"], "d")
    assert (
        "d_leaky_relu_s16(const struct d_leaky_relu_parameters *p, const usmp_i16 *input, usmp_i16 *output)"
        in wide.header
    )
    assert "int8_t" not in wide.header + wide.source
    assert "(usmp_i16)d_leaky_relu_one(p, input[i])" in wide.source


def test_lines_of_some_types_are_there_for_those_alone() -> None:
    c = sources.choose(["batch_matmul_s16", "batch_matmul_f32"], "d")
    of_s16, of_f32 = (c.header.split(f"struct d_batch_matmul_{suffix}_parameters {{")[1] for suffix in ("s16", "f32"))
    assert "int32_t multiplier;" in of_s16.split("}")[0]
    assert "int32_t multiplier;" not in of_f32.split("}")[0]
    assert "zero_point;" not in c.header
    assert "int64_t sums[4]" in c.source
    assert "float sums[4]" in c.source
    assert "#" not in c.header + c.source


def test_system_headers_come_first_and_only_where_needed() -> None:
    assert sources.choose(["copy", "softmax_f32"], "d").source.startswith("#include <math.h>\n#include <string.h>\n\n")


def test_a_reduction_is_named_once() -> None:
    c = sources.choose(["mean_s8"], "d")
    for suffix in ("begin", "row", "finish"):
        assert c.header.count(f"d_mean_s8_{suffix}(") == c.source.count(f"d_mean_s8_{suffix}(") == 1


def test_nothing_from_nothing() -> None:
    assert sources.choose([], "d").header == sources.choose([], "d").source == ""


def test_an_unknown_function_is_a_bug_of_the_caller() -> None:
    with pytest.raises(KeyError, match="conv_9d"):
        sources.choose(["conv_9d"], "d")
