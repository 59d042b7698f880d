"""Make a model of each family in four types: int8, int16 with weights of int8, float32, and hybrid.

    python make_models.py [NAME ...]

writes NAME_TYPE.tflite beside this script.  TensorFlow and tf-keras are needed here and nowhere else (see the README of
`tests/data`, whose scripts this one uses).  In a hybrid model only weights are quantized, and of these only arrays of
1,024 elements and more.  The converter has no LSTM of int16.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "data"))

from conversion import SEED, convert_as, keras, tf  # noqa: E402
from families import FAMILIES  # noqa: E402

TYPES = ("int8", "int16", "float32")
HYBRID = ("denoiser", "unet")
"""Families with weights that are large enough."""
WITHOUT = {("denoiser", "int16")}


def make(name: str, type_: str) -> None:
    """Make one model, in this process, which must not have made another before."""
    keras.config.disable_interactive_logging()
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    model = convert_as(FAMILIES[name](), type_)
    (HERE / f"{name}_{type_}.tflite").write_bytes(model)
    print(f"{name}_{type_}.tflite: {len(model)} bytes")


def make_apart(name: str, type_: str) -> bool:
    """Make one model in a fresh process, and return whether that went well."""
    command = [sys.executable, __file__, "--here", name, type_]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failure = f"{name} {type_}: failed with status {done.returncode}\n{done.stderr[-2000:]}"
    print(failure if done.returncode else done.stdout, end="", flush=True)
    return done.returncode == 0


def main() -> int:
    """Make the families named on the command line."""
    parser = argparse.ArgumentParser(description="Make a model of each family in each type.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FAMILIES)}; default: all")
    parser.add_argument("--here", nargs=2, metavar="WORD", help="make one in this process (for the script itself)")
    arguments = parser.parse_args()
    if arguments.here:
        make(*arguments.here)
        return 0
    names = arguments.names or FAMILIES
    wanted = [(name, type_) for name in names for type_ in (*TYPES, *["hybrid"] * (name in HYBRID))]
    models = [make_apart(*each) for each in wanted if each not in WITHOUT]
    return 0 if all(models) else 1


if __name__ == "__main__":
    sys.exit(main())
