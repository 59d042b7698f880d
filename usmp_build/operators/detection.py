"""TFLite_Detection_PostProcess, a custom operator of TensorFlow Lite Micro: the end of object detectors."""

from __future__ import annotations

from dataclasses import field

from usmp_build.frozen import frozen
from usmp_build.ir.options import Options, named
from usmp_build.operators.kind import AtOnce, Effect, StoredOptions, pure
from usmp_build.operators.operands import Signature

DETECTION = "CUSTOM:TFLite_Detection_PostProcess"


@frozen
class Detection(Options):
    """TFLite_Detection_PostProcess."""

    max_detections: int = field(default=0, metadata=named())
    max_classes_per_detection: int = field(default=0, metadata=named())
    """Classes of a box, if `use_regular_nms` is not set."""
    detections_per_class: int = field(default=100, metadata=named(required=False))
    """Boxes of a class, if `use_regular_nms` is set."""
    use_regular_nms: bool = field(default=False, metadata=named(required=False))
    """Whether boxes of different classes may overlap."""
    nms_score_threshold: float = field(default=0.0, metadata=named())
    nms_iou_threshold: float = field(default=0.0, metadata=named())
    num_classes: int = field(default=0, metadata=named())
    """Without the background."""
    y_scale: float = field(default=0.0, metadata=named())
    x_scale: float = field(default=0.0, metadata=named())
    h_scale: float = field(default=0.0, metadata=named())
    w_scale: float = field(default=0.0, metadata=named())


KINDS = (
    pure(
        DETECTION,
        Signature("boxes scores anchors", "found_boxes found_classes found_scores count"),
        effect=Effect.PURE,
        options=StoredOptions(Detection, None),
        whole=AtOnce.PLACES,
    ),
)
