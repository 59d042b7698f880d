"""TFLite models: bytes → records (`flatbuffer`, `schema`) → graph (`reader`) → checked (`operators.well_formed`)."""

from usmp_build.importers.tflite.reader import import_stored, import_tflite, read_tflite, resizes

__all__ = ["import_stored", "import_tflite", "read_tflite", "resizes"]
