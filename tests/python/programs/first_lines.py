"""First lines of programs for Gaudi: star import, short path to the estimator, query of the device type."""

from __future__ import annotations

import habana_frameworks.tensorflow as htf
from habana_frameworks.tensorflow import HabanaEstimator, habana_device, habana_ops, load_habana_module  # noqa: F401
from habana_frameworks.tensorflow.multinode_helpers import comm_local_rank, comm_rank, comm_size
from habana_frameworks.tensorflow.ops.layer_norm import *  # noqa: F403

assert (comm_size(), comm_rank(), comm_local_rank()) == (1, 0, 0)
assert HabanaLayerNormalization.__mro__[1].__name__ == "LayerNormalization"  # noqa: F405
log_info_devices = load_habana_module(allow_op_override=False)
assert habana_device.get_type() == "GAUDI"
import tensorflow as tf  # noqa: E402

for symbol in (tf.keras.layers.LayerNormalization.call, tf.keras.activations.gelu):
    assert not hasattr(symbol, "_replaced"), symbol
assert htf.habana_ops is habana_ops and callable(habana_ops.habana_layer_norm)
assert callable(habana_ops.pyramid_roi_align) and "pyramid_roi_align" in dir(habana_ops)
assert callable(habana_ops.habana_correlation) and callable(habana_ops.habana_masked_softmax)
try:
    habana_ops.habana_corelation  # noqa: B018 (fails)
except AttributeError as error:
    assert "habana_ops has no op habana_corelation" in str(error), error
else:
    raise AssertionError("habana_ops accepts the name of a missing op")
