"""Behaviour of TensorFlow's DEVICE_DEFAULT kernels on the HPU, according to TensorFlow 2.15's sources.

Such kernels run on any device. A kernel that reads device tensors on the host would fault. For each op, the table
states the reason why its kernel is safe, or the plugin's replacement.
"""

from __future__ import annotations

import enum


class Reason(enum.Enum):
    """Reason why an op's default kernel does not access device memory on the host."""

    HOST_ARGUMENTS = "every argument lies in host memory"
    MOVES = "passes tensors on, or looks at their shapes only"
    STORES = "keeps tensors and returns them unchanged"
    CALLS = "runs functions"
    COPIES = "copies by the device context"
    HANDLES = "works on handles or variables as a whole"
    NEVER_RUNS = "is created by TensorFlow's auto-clustering only, which ignores the HPU"
    REPLACED = "has a plugin kernel for the dtypes that live on the device"


_OPS = {
    Reason.HOST_ARGUMENTS: """
        Abs Add AddN AddV2 Assert BatchFunction BroadcastArgs BroadcastGradientArgs CollectiveAssignGroupV2 Concat
        ConcatOffset ConcatV2 CopyHost DataFormatDimMap DataFormatVecPermute DebugIdentity DebugIdentityV2
        DebugIdentityV3 DebugNanCount DebugNumericSummary DeepCopy DeviceIndex DevicePlacementOp Div Equal Fact Fill
        FloorDiv FloorMod Greater GreaterEqual HostConst InplaceAdd InplaceSub InplaceUpdate InvertPermutation Less
        LessEqual LinSpace LoopCond Max Maximum Min Minimum Mod Mul Neg NotEqual ParallelDynamicStitch Range Sign
        Slice Square SquaredDifference Sub TruncateMod Unique Unpack Where _HostCast _HostRecv _HostSend""",
    Reason.MOVES: """
        ControlTrigger DebugGradientIdentity DestroyTemporaryVariable EnsureShape Enter Exit ExpandDims Identity
        IdentityN IsVariableInitialized Merge NextIteration NoOp OnesLike Placeholder PlaceholderV2
        PlaceholderWithDefault PreventGradient Rank RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSwitch
        Reshape Shape ShapeN Size Squeeze StopGradient Switch TemporaryVariable Variable VariableV2 ZerosLike _Arg
        _ArrayToList _DeviceArg _DeviceRetval _EagerConst _ListToArray _Retval _ScopedAllocator
        _ScopedAllocatorConcat _ScopedAllocatorSplit _SwitchN""",
    Reason.STORES: """
        DeleteSessionTensor EmptyTensorList FIFOQueueV2 GetSessionHandle GetSessionHandleV2 GetSessionTensor MapClear
        MapIncompleteSize MapPeek MapSize MapStage MapUnstage MapUnstageNoKey OrderedMapClear
        OrderedMapIncompleteSize OrderedMapPeek OrderedMapSize OrderedMapStage OrderedMapUnstage
        OrderedMapUnstageNoKey QueueCloseV2 QueueDequeueV2 QueueEnqueueV2 QueueSizeV2 Stack
        StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2 StackV2 Stage StageClear StagePeek StageSize
        TensorListConcatLists TensorListElementShape TensorListLength TensorListReserve TensorListResize Unstage""",
    Reason.CALLS: """
        Case For If PartitionedCall RemoteCall StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile
        SymbolicGradient While _If _While""",
    Reason.COPIES: """
        CollectiveAllToAllV2 CollectiveBcastRecv CollectiveBcastRecvV2 CollectiveBcastSend CollectiveBcastSendV2
        CollectiveGatherV2 CollectiveReduceScatterV2 CollectiveReduceV2 Const EagerPyFunc Recv Send SyncDevice""",
    Reason.HANDLES: """
        AssignVariableOp ConsumeMutexLock DestroyResourceOp DisableCopyOnRead MakeWeakResourceHandle MutexLock MutexV2
        ReadVariableOp VarHandleOp VarIsInitializedOp VariableShape _ReadVariablesOp _VarHandlesOp""",
    Reason.NEVER_RUNS: "_XlaCompile _XlaMerge _XlaRun",
    Reason.REPLACED: """
        AssignAddVariableOp AssignSubVariableOp Copy FakeParam QueueIsClosedV2 ResourceGather ResourceScatterUpdate
        TensorListConcat
        TensorListConcatV2 TensorListFromTensor TensorListGather TensorListGetItem TensorListPopBack
        TensorListPushBack TensorListPushBackBatch TensorListScatter TensorListScatterIntoExistingList
        TensorListScatterV2 TensorListSetItem TensorListSplit TensorListStack _Recv _Send""",
}

REASONS: dict[str, Reason] = {op: reason for reason, ops in _OPS.items() for op in ops.split()}
