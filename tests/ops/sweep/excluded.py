"""Ops without sweep cases, with reasons."""

from __future__ import annotations

import functools
from collections.abc import Mapping

_REASONS = {
    "is created only by TensorFlow when it runs a graph": """
        _Arg _ArrayToList _DeviceArg _DeviceRetval _EagerConst _HostCast _HostRecv _HostSend _If _ListToArray
        _ReadVariablesOp _Recv _Retval _ScopedAllocator _ScopedAllocatorConcat _ScopedAllocatorSplit _Send _SwitchN
        _VarHandlesOp _While _XlaCompile _XlaMerge _XlaRun _XlaAotOnlyVarHandleOp Recv Send DevicePlacementOp HostConst
        _FusedBatchNormEx _FusedConv2D _FusedMatMul _UnaryOpsComposition XlaLaunch XlaHostCompute Fact FakeParam""",
    "needs a group of workers: tests/distribute": """
        CollectiveAllToAllV2 CollectiveAllToAllV3 CollectiveAssignGroupV2 CollectiveBcastRecv CollectiveBcastRecvV2
        CollectiveBcastSend CollectiveBcastSendV2 CollectiveGather CollectiveGatherV2 CollectiveInitializeCommunicator
        CollectiveReduce CollectiveReduceScatterV2 CollectiveReduceV2 CollectiveReduceV3 XlaRecv XlaSend""",
    "uses reference variables, which the HPU does not support: docs/user/placement.md": """
        DestroyTemporaryVariable IsVariableInitialized RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSwitch
        TemporaryVariable Variable VariableV2 Stack StackClose StackPop StackPush""",
    "keeps tensors of a session: tests/equality/test_session.py": """
        DeleteSessionTensor GetSessionHandle GetSessionHandleV2 GetSessionTensor""",
    "needs a module, or the name of code, from another program": "XlaCallModule XlaCustomCall XlaCustomCallV2",
    "accesses the memory that tfdbg watches, or a run's step": """
        DebugIdentity DebugIdentityV2 DebugIdentityV3 DebugNanCount DebugNumericSummary
        SyncDevice MakeWeakResourceHandle""",
    "runs elements of a dataset, on the host: tests/kernels/test_default_kernels.py": """
        AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3 DeleteIterator GeneratorDataset
        IteratorFromStringHandleV2 IteratorGetNext
        IteratorGetNextAsOptional IteratorGetNextSync IteratorToStringHandle IteratorV2 MakeIterator
        OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone PrefetchDataset OptionsDataset
        UnwrapDatasetVariant WrapDatasetVariant FinalizeDataset""",
    "belongs to TensorFlow's own tests": "ResourceCreateOp ResourceInitializedOp ResourceUsingOp",
    "has been removed from TensorFlow, which rejects it in new graphs": "StatefulStandardNormal",
    "has a lowering that requires an attribute which the op lacks": "XlaIf",
    "needs an assignment of devices to replicas, without which TensorFlow crashes": "XlaReplicaId",
    "has arguments or results of types without arrays": """
        Dequantize StochasticCastToInt UniformQuantizedConvolution UniformQuantizedDot""",
}  # fmt: skip


@functools.cache
def reasons() -> Mapping[str, str]:
    """Returns the reasons by op."""
    return {op: reason for reason, ops in _REASONS.items() for op in ops.split()}
