"""What TFLite_Detection_PostProcess refuses: numbers that contradict each other, and classes without room."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support.kernels.detection import detection
from usmp_build.errors import KernelError
from usmp_build.interfaces.kernels import NoKernel
from usmp_build.ir.graph import Subgraph
from usmp_build.kernels.reference import library
from usmp_build.operators.detection import Detection


def graph(**options: float) -> Subgraph:
    """Return the graph of a case whose operator has other options."""
    drawn = detection(np.random.default_rng(1)).graph
    (op,) = drawn.operators
    assert isinstance(op.options, Detection)
    return replace(drawn, operators=(replace(op, options=replace(op.options, **options)),))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nms_iou_threshold": 0.0}, "lets boxes overlap by 0"),
        ({"h_scale": 0.0}, "divides by a scale of 0"),
        ({"x_scale": float("inf")}, "has options that are not finite"),
        ({"num_classes": 9}, "has scores of other classes than its own"),
        ({"max_detections": 99}, "has outputs of another size than 99 detections"),
        ({"use_regular_nms": True, "detections_per_class": 0}, "detects nothing of a class"),
    ],
)
def test_contradictions_are_errors(options: dict[str, float], message: str) -> None:
    detection = graph(**options)
    with pytest.raises(KernelError, match=message):
        library.kernel(detection.operators[0], detection)


def test_several_classes_of_a_box_have_no_kernel() -> None:
    detection = graph(use_regular_nms=False, max_classes_per_detection=2)
    answer = library.kernel(detection.operators[0], detection)
    assert isinstance(answer, NoKernel)
    assert "several classes" in answer.reason
