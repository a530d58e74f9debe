"""Support of an op by a Gaudi card, from the op list gaudi."""

from __future__ import annotations

from habana_frameworks.tensorflow._internal.native import known_ops
from habana_frameworks.tensorflow.op_registry import kernels
from habana_frameworks.tensorflow.op_registry.model import AttributeTypes, GaudiSupport

NOT_LISTED = "not listed"
# Public ops that no list refuses, from IsStructural in plugin/passes/analysis/placement_policy.cc.
_STRUCTURAL = frozenset(
    {
        *("Abort", "Assert", "Const", "ControlTrigger", "Enter", "Exit", "HostConst", "LoopCond", "Merge"),
        *("NextIteration", "NoOp", "Placeholder", "PlaceholderWithDefault", "RefEnter", "RefExit", "RefMerge"),
        *("RefNextIteration", "RefSwitch", "Switch", "SymbolicGradient"),
    }
)


def support(op: str, types: AttributeTypes) -> GaudiSupport:
    """Returns a card's support of `op`. types: types of the HPU's kernels and lowerings."""
    if _is_structural(op):
        return GaudiSupport(NOT_LISTED, "", 0, types)
    listed = known_ops.gaudi().op(op)
    known = {attribute: _known(attribute, allowed, listed.types) for attribute, allowed in types.items()}
    return GaudiSupport(listed.verdict, listed.source, listed.max_rank, known)


def _known(attribute: str, types: tuple[str, ...], listed: AttributeTypes) -> tuple[str, ...]:
    """Returns the `types` that the list accepts for an attribute; all accepted types if `types` is empty."""
    gaudi = known_ops.gaudi()
    accepted = set(listed.get(attribute, gaudi.types))
    if attribute in gaudi.index_attributes:
        accepted |= set(gaudi.index_types)
    return tuple(name for name in types or sorted(accepted) if name in accepted)


def _is_structural(op: str) -> bool:
    calls = any(attribute.type in ("func", "list(func)") for attribute in kernels.definitions()[op].attr)
    return calls or op in _STRUCTURAL or kernels.is_own(op) or op.startswith("_")
