"""The Synapse double accepts the nodes of the product's graphs, with the sizes of their results."""

from __future__ import annotations

import pytest

from tests.gaudi import recorded_signatures
from tests.gaudi.recorded_signatures import Signature
from tests.gaudi.synapse_graph import Graph
from tests.gaudi.synapse_library import SUCCESS, Double

# Sizes of params of convolutions that release 1.5 lacks.
LATER_CONVOLUTIONS = (88, 104, 112, 128)


def _tensor(graph: Graph, text: str, name: str | None = None, grown: int = 0) -> object:
    dtype, sizes = recorded_signatures.parse(text)
    sizes[0] += grown
    if dtype is None:
        return graph.shape(sizes)
    return graph.persistent(name, sizes, dtype) if name else graph.tensor(sizes, dtype)


@pytest.mark.parametrize(
    "signature", recorded_signatures.SIGNATURES, ids=lambda signature: f"{signature.guid}-{len(signature.operands)}"
)
def test_recorded_signatures(double: Double, signature: Signature) -> None:
    double.ok("synInitialize")
    known = [params for params in signature.params if not double.is_1_5 or len(params) not in LATER_CONVOLUTIONS]
    for params in known:
        graph = Graph(double, "gaudi2")
        operands = [_tensor(graph, text, f"operand{i}") for i, text in enumerate(signature.operands)]
        results = [_tensor(graph, text, f"result{i}") for i, text in enumerate(signature.results)]
        for i, text in enumerate(signature.results if not signature.result_is_free else ()):
            wrong = [*results[:i], _tensor(graph, text, grown=1), *results[i + 1 :]]
            assert graph.node_status(signature.guid, operands, wrong, params)[0] != SUCCESS
        graph.node(signature.guid, operands, results, params)
        graph.compile()
