"""Calls of all ops on variables, with arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops import registry

# Dtypes of variables on the HPU.
DTYPES = [
    *(tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128, tf.bool),
    *(tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64),
]

# Reasons to exclude ops with other resources, or with a resource that has no value.
OTHERS = {
    "tables, readers, writers, iterators, queues and so on stay on the CPU": """
        CloseSummaryWriter CollectiveAllToAllV2 CollectiveAllToAllV3 CollectiveGatherV2 CollectiveReduceScatterV2
        CollectiveReduceV2 CollectiveReduceV3 CreateSummaryDbWriter CreateSummaryFileWriter
        DeleteIterator DeleteMemoryCache DeleteMultiDeviceIterator DeleteRandomSeedGenerator DeleteRpcFutureResource
        DeleteSeedGenerator DeserializeIterator ExperimentalIteratorGetDevice ExperimentalStatsAggregatorSummary
        FakeQueue FlushSummaryWriter ImportEvent InitializeTableFromDataset InitializeTableFromTextFileV2
        InitializeTableV2 IteratorGetDevice IteratorGetNext IteratorGetNextAsOptional IteratorGetNextSync
        IteratorToStringHandle LookupTableExportV2 LookupTableFindV2 LookupTableImportV2 LookupTableInsertV2
        LookupTableRemoveV2 LookupTableSizeV2 MakeIterator MultiDeviceIteratorGetNextFromShard MultiDeviceIteratorInit
        MultiDeviceIteratorToStringHandle QueueDequeueManyV2 QueueDequeueUpToV2 QueueEnqueueManyV2
        ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompletedV2 ReaderReadUpToV2 ReaderReadV2 ReaderResetV2
        ReaderRestoreStateV2 ReaderSerializeStateV2 ResourceAccumulatorApplyGradient ResourceAccumulatorNumAccumulated
        ResourceAccumulatorSetGlobalStep ResourceAccumulatorTakeGradient RpcCall RpcCheckStatus RpcGetValue
        RpcServerRegister RpcServerStart SerializeIterator StatsAggregatorSetSummaryWriter StatsAggregatorSummary
        TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayGradV3 TensorArrayGradWithShape
        TensorArrayReadV3 TensorArrayScatterV3 TensorArraySizeV3 TensorArraySplitV3 TensorArrayWriteV3
        WriteAudioSummary WriteGraphSummary WriteHistogramSummary WriteImageSummary WriteRawProtoSummary
        WriteScalarSummary WriteSummary""",
    "datasets are made on the CPU": """
        CacheDatasetV2 DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4
        ExperimentalSetStatsAggregatorDataset ExperimentalThreadPoolDataset RandomDatasetV2 SetStatsAggregatorDataset
        ShuffleAndRepeatDatasetV2 ShuffleDatasetV2 ShuffleDatasetV3 ThreadPoolDataset""",
    "takes the handle of any resource": "IsResourceHandleRefCounting",
    "of TensorFlow's own tests": "ResourceCreateOp ResourceInitializedOp ResourceUsingOp",
    "is created by TensorFlow's auto-clustering, which ignores the HPU": "XlaLaunch",
    "is created by the graph passes: tests/passes/test_guards.py": "HabanaRevertUpdate",
}


def ops_on_variables() -> list[str]:
    """Returns the ops with a resource argument and a CPU kernel, except OTHERS and ops with only a default kernel."""
    others = {op for ops in OTHERS.values() for op in ops.split()}
    found = []
    for op, devices in registry.kernels_by_device().items():
        definition = registry.op_def(op)
        if definition is None or "CPU" not in devices or op in others:
            continue
        if not any(argument.type == registry.RESOURCE for argument in definition.input_arg):
            continue
        if "DEFAULT" not in devices or "HPU" in devices:
            found.append(op)
    return sorted(found)


@dataclasses.dataclass(frozen=True)
class Call:
    """An op with dtypes for its attributes."""

    op: str
    types: dict[str, tf.DType]

    def variables(self) -> list[tf.Variable]:
        """Creates variables for the op's handles, on the device in scope."""
        return [
            tf.Variable(self._value(argument.name, index), trainable=False)
            for index, argument in enumerate(registry.op_def(self.op).input_arg)
            if argument.type == registry.RESOURCE
        ]

    def run(self, variables: list[tf.Variable]) -> Any:
        """Calls the op and returns its results."""
        arguments: dict[str, Any] = {name: dtype for name, dtype in self.types.items() if self._is_output_only(name)}
        handles = iter(variables)
        for argument in registry.op_def(self.op).input_arg:
            name = argument.name
            if argument.type == registry.RESOURCE:
                arguments[name] = next(handles).handle
            else:
                arguments[name] = self._constant(self._array(name), self._dtype(argument))
        if self.op == "ResourceStridedSliceAssign":
            arguments["end_mask"] = 1
        if self.op == "ResourceCountUpTo":
            arguments["limit"] = 3
        call: Callable[..., Any] = getattr(tf.raw_ops, self.op)
        return call(**arguments)

    @staticmethod
    def _constant(value: Any, dtype: tf.DType) -> tf.Tensor:
        return tf.constant(np.asarray(value).astype(dtype.as_numpy_dtype), dtype)

    def _is_output_only(self, attribute: str) -> bool:
        return all(argument.type_attr != attribute for argument in registry.op_def(self.op).input_arg)

    def _dtype(self, argument: Any) -> tf.DType:
        return self.types[argument.type_attr] if argument.type_attr else tf.as_dtype(argument.type)

    def _is_random(self) -> bool:
        return self.op.startswith(("Stateful", "Rng"))

    def _value(self, name: str, index: int) -> tf.Tensor:
        if self._is_random():
            return tf.constant([1, 2, 3], tf.int64)
        dtype = self.types.get("T", self.types.get("dtype", tf.float32))
        if self.op == "ResourceCountUpTo":
            return self._constant(1, dtype)
        return self._constant((np.arange(6).reshape(3, 2) + index) % 2 + 1, dtype)

    def _array(self, name: str) -> Any:
        """Returns a number or an array for an argument."""
        sparse = "indices" in [argument.name for argument in registry.op_def(self.op).input_arg]
        if name == "indices":
            return [[0], [2]] if "Nd" in self.op else [0, 2]
        if name in ("grad", "updates", "delta", "value", "v") and not self._is_random():
            return np.ones([2 if sparse or self.op == "ResourceStridedSliceAssign" else 3, 2], np.int64)
        special = {"algorithm": 1, "alg": 1, "shape": [4], "counts": 5, "probs": 0.5, "minval": 1, "maxval": 100}
        special |= {"begin": [1], "end": [0], "strides": [1], "global_step": 1, "delta": 3}
        return special.get(name, 1)


def calls(op: str) -> list[Call]:
    """Returns one call for each combination of dtypes with a CPU kernel."""
    found = []
    for kernel in registry.kernels_by_device()[op]["CPU"]:
        for types in registry.choices(kernel, DTYPES):
            call = Call(op, {name: tf.as_dtype(enum) for name, enum in types.items()})
            if not _ends_process(call):
                found.append(call)
    return found


def _ends_process(call: Call) -> bool:
    """Whether the CPU kernel fails a CHECK, because it reads an int64 shape as int32."""
    return call.op == "StatefulRandomBinomial" and call.types["S"] == tf.int64
