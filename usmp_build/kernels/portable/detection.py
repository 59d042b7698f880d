"""TFLite_Detection_PostProcess: boxes of objects, the likeliest first, without those that overlap a likelier one."""

from __future__ import annotations

from math import isfinite

from usmp_build.arithmetic.fixed_point import single
from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output, Scratch, ScratchRequest, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.nest import Fields, InTurn, Moved, Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.operators.detection import Detection

_CORNERS = 4


def detection(node: Node) -> Kernel:
    """Boxes of any class, each with its likeliest one, or of each class by itself."""
    options, (encodings, scores, _) = node.options(Detection), node.inputs
    if any(tensor.dtype is not DType.FLOAT32 for tensor in (*node.inputs, *node.outputs)):
        raise unsupported_types(*node.inputs, *node.outputs)
    boxes = _check_shapes(node, options)
    if not options.use_regular_nms and min(options.max_classes_per_detection, options.num_classes) != 1:
        raise Unsupported("it gives a box several classes, which TensorFlow Lite Micro writes beyond its output")
    fields = _fields(node, options, boxes)
    requests = [ScratchRequest("boxes", boxes * _CORNERS * 4, DType.FLOAT32)]
    if not options.use_regular_nms:
        requests.append(ScratchRequest("best", boxes * 4, DType.FLOAT32))
    requests.append(ScratchRequest("active", boxes, DType.UINT8))
    operands: tuple[Operand, ...] = (
        *(Input(position) for position in range(3)),
        *(Scratch(position) for position in range(len(requests))),
        *(Output(position) for position in range(4)),
    )
    function = "detection_by_class" if options.use_regular_nms else "detection_of_any_class"
    decoded, looked_at = reads(Input(0), encodings.elements), reads(Input(1), scores.elements)
    results = tuple(writes(Output(i), tensor.elements) for i, tensor in enumerate(node.outputs))
    return kernel(
        node,
        function,
        InTurn((Nest({}, (decoded,)), Nest({}, results), Nest({}, (looked_at,)))),
        fields,
        struct="detection_parameters",
        operands=operands,
        scratch=tuple(requests),
        moved=_traffic(node, options),
    )


def _traffic(node: Node, options: Detection) -> Moved:
    """Return an estimate: how often boxes are compared depends on their scores.

    By classes, detections are inserted in the order of scores, which moves those that are there; their number is not
    read.
    """
    detections = enumerate(node.outputs[:-1]) if options.use_regular_nms else ()
    return {Output(position): Traffic(tensor.size, tensor.size) for position, tensor in detections}


def _check_shapes(node: Node, options: Detection) -> int:
    """Return the number of boxes; raise KernelError where operands contradict each other or the options."""
    encodings, scores, anchors = node.inputs
    node.expect(len(node.outputs) == 4, f"has {len(node.outputs)} outputs, not 4")
    node.expect(len(encodings.shape) == len(scores.shape) == 3, "has boxes or scores without three dimensions")
    batch, boxes, encoding = encodings.shape
    node.expect(batch == 1 and scores.shape[:2] == (1, boxes), "has boxes and scores of different numbers")
    node.expect(encoding >= _CORNERS, f"has boxes of {encoding} numbers")
    node.expect(anchors.elements == boxes * _CORNERS, f"has {anchors.elements} numbers of anchors for {boxes} boxes")
    node.expect(scores.shape[2] - options.num_classes in (0, 1), "has scores of other classes than its own")
    node.expect(options.num_classes > 0 and options.max_detections > 0, "has no classes, or detects nothing")
    room = tuple(tensor.elements for tensor in node.outputs)
    most = options.max_detections
    node.expect(room == (most * _CORNERS, most, most, 1), f"has outputs of another size than {most} detections")
    return boxes


def _fields(node: Node, options: Detection, boxes: int) -> Fields:
    encodings, scores, _ = node.inputs
    scales = {name: single(getattr(options, f"{name}_scale")) for name in "yxhw"}
    thresholds = (single(options.nms_score_threshold), single(options.nms_iou_threshold))
    node.expect(all(isfinite(number) for number in (*scales.values(), *thresholds)), "has options that are not finite")
    node.expect(all(scales.values()), "divides by a scale of 0")
    node.expect(0 < thresholds[1] <= 1, f"lets boxes overlap by {thresholds[1]:g}")
    node.expect(not options.use_regular_nms or options.detections_per_class > 0, "detects nothing of a class")
    return (
        ("boxes", boxes),
        ("encoding", encodings.shape[2]),
        ("scores", scores.shape[2]),
        ("background", scores.shape[2] - options.num_classes),
        ("classes", options.num_classes),
        ("detections", options.max_detections),
        ("per_class", options.detections_per_class),
        ("likely", thresholds[0]),
        ("overlap", thresholds[1]),
        *((f"{name}_scale", scale) for name, scale in scales.items()),
    )
