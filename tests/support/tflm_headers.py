"""Stand-ins for the headers of TensorFlow Lite Micro: enough to compile what `export tflm` writes, and to count."""

from pathlib import Path

_MICRO = "tensorflow/lite/micro"
_RESOLVER = """#pragma once
#include <stddef.h>
enum TfLiteStatus { kTfLiteOk, kTfLiteError };
struct TFLMRegistration {};
namespace tflite {
template <unsigned int size>
struct MicroMutableOpResolver {
  static constexpr unsigned int capacity = size;
  unsigned int used = 0;
  TfLiteStatus Added() { return used++ < size ? kTfLiteOk : kTfLiteError; }
  TfLiteStatus AddCustom(const char*, const TFLMRegistration*) { return Added(); }
METHODS};
}
"""
_HEADERS = {
    "micro_allocator.h": """#pragma once
#include <stddef.h>
#include <stdint.h>
namespace tflite {
struct MicroAllocator { static MicroAllocator* Create(uint8_t*, size_t) { static MicroAllocator one; return &one; } };
}
""",
    "micro_interpreter.h": """#pragma once
#include "micro_allocator.h"
#include "micro_mutable_op_resolver.h"
namespace tflite {
struct Model {};
struct MicroResourceVariables {
  static MicroResourceVariables* Create(MicroAllocator*, int) { static MicroResourceVariables one; return &one; }
};
struct MicroInterpreter {
  template <typename Resolver>
  MicroInterpreter(const Model*, const Resolver&, MicroAllocator*, MicroResourceVariables* = nullptr) {}
  TfLiteStatus AllocateTensors() { return kTfLiteOk; }
};
}
""",
    "micro_resource_variable.h": "#pragma once\n",
}


def write_headers(folder: Path, *methods: str) -> None:
    """Write the headers; the resolver has these methods, by TensorFlow Lite Micro's names."""
    (folder / _MICRO).mkdir(parents=True)
    (folder / "tensorflow/lite/schema").mkdir()
    added = "".join(f"  TfLiteStatus {method}() {{ return Added(); }}\n" for method in methods)
    for name, text in _HEADERS.items():
        (folder / _MICRO / name).write_text(text, encoding="utf-8")
    (folder / _MICRO / "micro_mutable_op_resolver.h").write_text(_RESOLVER.replace("METHODS", added), encoding="utf-8")
    schema = '#pragma once\n#include "../micro/micro_interpreter.h"\n'
    schema += "namespace tflite { inline const Model* GetModel(const void*) { return nullptr; } }\n"
    (folder / "tensorflow/lite/schema/schema_generated.h").write_text(schema, encoding="utf-8")
