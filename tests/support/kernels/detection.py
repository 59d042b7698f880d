"""Cases of TFLite_Detection_PostProcess: boxes around anchors, with scores that differ, or of a few values."""

from collections.abc import Callable

import numpy as np

from tests.support.kernels.drawing import FLOAT, Case, Random, case, pick, single, span
from usmp_build.ir.graph import Tensor
from usmp_build.operators.detection import DETECTION, Detection


def detection(r: Random) -> Case:
    """Draw detections: where TensorFlow Lite Micro would leave some of the output as it is, as many as are found."""
    boxes, classes, regular = span(r, 1, 40), span(r, 1, 5), bool(pick(r, [True, False]))
    places = span(r, 1, min(boxes, 6))
    background, encoding = span(r, 0, 1), pick(r, [4, 4, 6])
    options = Detection(
        max_detections=span(r, 1, 12) if regular else span(r, 1, places),
        max_classes_per_detection=1,
        detections_per_class=span(r, 1, 8),
        use_regular_nms=regular,
        nms_score_threshold=single(pick(r, [0.0, 0.3])) if regular else 0.0,
        nms_iou_threshold=single(r.uniform(0.05, 1)),
        num_classes=classes,
        y_scale=single(pick(r, [10.0, 1.0])),
        x_scale=10.0,
        h_scale=5.0,
        w_scale=single(pick(r, [5.0, 1.0])),
    )
    far = 1000 * (np.arange(boxes) % places)[:, None] if not regular else 0
    centers, sizes = far + r.uniform(0, 1, (boxes, 2)), r.uniform(0.1, 0.5, (boxes, 2))
    anchors = np.hstack([centers, sizes]).astype(np.float32)
    tensors = (
        Tensor("codes", (1, boxes, encoding), FLOAT),
        Tensor("scores", (1, boxes, classes + background), FLOAT),
        Tensor("anchors", (boxes, 4), FLOAT, data=anchors.tobytes()),
    )
    most = options.max_detections
    shapes = ((1, most, 4), (1, most), (1, most), (1,))
    outputs = [Tensor(f"found{i}", shape, FLOAT) for i, shape in enumerate(shapes)]
    example = case(r, DETECTION, tensors, outputs, options)
    scores = r.uniform(0, 1, tensors[1].shape)
    scores = np.round(scores * 4) / 4 if pick(r, [True, False]) else scores
    return Case(example.graph, (r.normal(0, 1, tensors[0].shape).astype(np.float32), scores.astype(np.float32)))


CASES: dict[str, Callable[[Random], Case]] = {DETECTION: detection}
