"""Placement and clustering of every op of every graph, with reasons and remedies: docs/user/explain.md."""

from habana_frameworks.tensorflow.explanation.collect import Collector
from habana_frameworks.tensorflow.explanation.explanation import Explanation, from_json
from habana_frameworks.tensorflow.explanation.memory import Buffer, ClusterMemory
from habana_frameworks.tensorflow.explanation.model import Cluster, ClusterSplit, Example, Graph, Op, Rewrite, RuleTotal
from habana_frameworks.tensorflow.explanation.rules import RULES, Rule
from habana_frameworks.tensorflow.explanation.run import explain, untraced
from habana_frameworks.tensorflow.explanation.times import InstructionTime

__all__ = [
    "RULES",
    "Buffer",
    "Cluster",
    "ClusterMemory",
    "ClusterSplit",
    "Collector",
    "Example",
    "Explanation",
    "Graph",
    "InstructionTime",
    "Op",
    "Rewrite",
    "Rule",
    "RuleTotal",
    "explain",
    "from_json",
    "untraced",
]
