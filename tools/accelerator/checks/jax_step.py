"""Times a recorded train step under JAX. Runs in the machine's own Python with JAX and NumPy, without the kit.

jax_step.py STEP.hlo STEP.json cpu|cuda RESULT.json
"""

from __future__ import annotations

import json
import pathlib
import sys
import time
from typing import Any

_ROUNDS = 5
_ROUND_SECONDS = 0.6
_TYPES = {"PRED": "bool", "F32": "float32", "F64": "float64", "BF16": "bfloat16", "F16": "float16"}
_TYPES |= {f"{sign}{bits}": f"{name}int{bits}" for sign, name in (("S", ""), ("U", "u")) for bits in (8, 16, 32, 64)}


def stablehlo_of(hlo: bytes, aliases: list[tuple[int, int]]) -> str:
    """Converts the program. Plugins read aliases from attributes of the arguments, as JAX writes them."""
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir

    with mlir.make_ir_context() as context:
        module = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(hlo), context)
        del module.operation.attributes["mhlo.input_output_alias"]
        (main,) = (one for one in module.body.operations if one.name.value == "main")
        attributes = [dict(one) for one in main.arg_attrs]
        for result, argument in aliases:
            attributes[argument]["tf.aliasing_output"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), result)
        main.arg_attrs = ir.ArrayAttr.get([ir.DictAttr.get(one) for one in attributes])
        return str(module)


def compile_step(hlo: bytes, aliases: list[tuple[int, int]], platform: str) -> tuple[Any, Any]:
    """Compiles the program with JAX's client. Returns the executable and its device."""
    import jax
    from jax.extend import backend
    from jaxlib import _jax

    jax.config.update("jax_enable_x64", True)
    client = backend.get_backend(platform)
    device = client.local_devices()[0]
    module = stablehlo_of(hlo, aliases)
    devices = _jax.DeviceList((device,))
    return client.compile_and_load(module, devices, _jax.CompileOptions()), device


def make_arguments(shapes: list[dict[str, Any]], device: Any) -> list[Any]:
    """Returns arrays of small numbers in device memory, one per entry of `shapes`."""
    import jax
    import numpy as np

    generator = np.random.default_rng(0)
    arguments = []
    for shape in shapes:
        dtype = jax.numpy.dtype(_TYPES[shape["type"]])
        values = generator.random(shape["dimensions"], np.float32) * 0.1
        arguments.append(jax.device_put(np.asarray(values).astype(dtype), device))
    return arguments


def time_step(executable: Any, arguments: list[Any], aliases: list[tuple[int, int]]) -> float:
    """Returns the best mean time of a step, in seconds. Each step updates the variables that the next step reads."""
    current = list(arguments)

    def steps(count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            results = executable.execute_sharded(current).disassemble_into_single_device_arrays()
            for result, argument in aliases:
                (current[argument],) = results[result]
        for (array,) in results:
            array.block_until_ready()
        return (time.perf_counter() - begin) / count

    steps(1)
    count = max(1, round(_ROUND_SECONDS / steps(3)))
    return min(steps(count) for _ in range(_ROUNDS))


def main(hlo: str, step: str, platform: str, result: str) -> int:
    import jax

    begin = time.perf_counter()
    interface = json.loads(pathlib.Path(step).read_text())
    executable, device = compile_step(pathlib.Path(hlo).read_bytes(), interface["aliases"], platform)
    compiled = time.perf_counter() - begin
    arguments = make_arguments(interface["arguments"], device)
    found = {
        "jax": jax.__version__,
        "device": device.device_kind,
        "compile_seconds": compiled,
        "seconds": time_step(executable, arguments, interface["aliases"]),
        "donated": sum(array.is_deleted() for array in arguments),
    }
    pathlib.Path(result).write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
