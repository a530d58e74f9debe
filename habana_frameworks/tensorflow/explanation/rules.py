"""Rules: why an op is off the HPU or outside clusters, why clusters are separate, and what a card refuses.

The build generates the rules of C++ from this table (tools/generate_rules.py), so this module imports nothing of the
package.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class _Card(NamedTuple):
    """What `hpu check` says of a rule."""

    fails: bool
    remedy: str = ""
    meaning: str = ""


class _Facts(NamedTuple):
    name: str
    meaning: str
    remedy: str
    expected: bool = False
    label: str = ""
    card: _Card | None = None


_OTHER_OP = "use another op, or move the computation to the input pipeline"


class Rule(str, enum.Enum):
    """A rule. Equal to its name in reports (docs/developer/pamsen.md), which `value` has too."""

    meaning: str
    remedy: str
    expected: bool
    """The rule applies to ops of every graph and needs no remedy."""
    label: str
    """Words to show instead of the name; empty if the name is clear by itself."""
    card: _Card | None
    """For rules of a card that a program can break: whether this fails the check, and words for `hpu check`."""

    def __new__(cls, *values: Any) -> Rule:
        """Makes the rule of one entry below."""
        facts = _Facts(*values)
        rule = str.__new__(cls, facts.name)
        rule._value_ = facts.name
        rule.meaning, rule.remedy, rule.expected = facts.meaning, facts.remedy, facts.expected
        rule.label, rule.card = facts.label, facts.card
        return rule

    def __str__(self) -> str:
        return str(self.value)

    @property
    def card_meaning(self) -> str:
        """The rule's meaning for `hpu check`."""
        return (self.card.meaning if self.card else "") or self.meaning

    @property
    def card_remedy(self) -> str:
        """The rule's remedy for `hpu check`."""
        return (self.card.remedy if self.card else "") or self.remedy

    def as_dict(self) -> dict[str, Any]:
        """The rule's words, for a page."""
        return {
            "name": self.value,
            "meaning": self.meaning,
            "remedy": self.remedy,
            "expected": self.expected,
            "label": self.label,
        }

    # Rules that keep ops off the HPU.
    PINNED = _Facts(
        "pinned",
        "a tf.device of the program or of a library places the op on another device",
        "remove the tf.device around the op, unless the op needs it; lookup tables and strategies keep theirs",
        card=_Card(fails=False),
    )
    OP_LIST = _Facts(
        "op-list",
        "the active op list does not support the op",
        "set HPU_OP_LIST=emulator; on a card use another op",
        card=_Card(fails=True, remedy=_OTHER_OP),
    )
    DTYPE = _Facts(
        "dtype",
        "the HPU has the op, but not for this dtype",
        "cast the input to float32, bfloat16 or int32",
        card=_Card(
            fails=True,
            remedy="cast to float32, bfloat16 or int32 before this line, or give the op such a dtype or output_type",
        ),
    )
    RANK = _Facts(
        "rank",
        "the HPU has the op, but not for tensors of this rank",
        "reshape the input",
        card=_Card(fails=True, remedy="reshape to at most 5 dimensions"),
    )
    USER_SETTING = _Facts(
        "user-setting",
        "a setting keeps the op out",
        "see the op's reason; `hpu doctor` lists the settings",
    )
    HOROVOD = _Facts("horovod", "stock Horovod reduces in host memory", "nothing", expected=True)
    NO_KERNEL = _Facts(
        "no-kernel",
        "the HPU has no kernel for the op",
        "use another op, or keep it in the input pipeline",
        card=_Card(fails=True, remedy=_OTHER_OP),
    )
    NEIGHBOURS = _Facts(
        "neighbours",
        "TensorFlow placed the op on the device of colocated or connected ops",
        "see the rules of the connected ops",
    )
    INPUT_PIPELINE = _Facts(
        "input-pipeline",
        "the input pipeline makes each batch on the CPU, and the step waits until the batch is copied",
        'end the dataset with .apply(tf.data.experimental.prefetch_to_device("/device:HPU:0")), which copies the next '
        "batch during a step",
    )
    LEGACY_VARIABLE = _Facts(
        "legacy-variable",
        "the op uses a TensorFlow 1 variable, which a setting places on the CPU",
        "use resource variables",
        card=_Card(fails=False),
    )
    # Rules that keep ops out of clusters.
    UNCOMPILABLE = _Facts(
        "uncompilable",
        "the op has no XLA lowering",
        "use another op; this op splits the cluster around it",
        card=_Card(fails=True, remedy=_OTHER_OP),
    )
    LOST_ERROR = _Facts(
        "lost-error",
        "compiled code cannot raise the op's error",
        "remove prints and check_numerics from the train step; compute divisors and indices outside, and pass them in",
        card=_Card(fails=False),
    )
    DYNAMIC_SIZE = _Facts(
        "dynamic-size",
        "the size of the op's result depends on values",
        "use a mask (tf.where with three arguments) and fixed sizes",
        card=_Card(fails=True, meaning="the shape of a result depends on values"),
    )
    RANDOM = _Facts(
        "random",
        "compiled code would draw different numbers",
        "use tf.random.uniform, normal or dropout",
        card=_Card(fails=False),
    )
    CHANGING_CONSTANT = _Facts(
        "changing-constant",
        "the value of a compile-time constant changes",
        "pass shapes, axes and sizes as Python numbers",
        card=_Card(fails=True, remedy="pass Python numbers", meaning="a shape, axis or size depends on values"),
    )
    RESOURCE_HANDLE = _Facts(
        "resource-handle",
        "the op passes a resource handle to other ops, or uses a resource on another device",
        "create variables outside the function, on the HPU",
    )
    SIDE_EFFECT = _Facts(
        "side-effect",
        "a loop or branch has a side effect on which some of its results do not depend",
        "put the loop or branch into a tf.function, which runs all side effects",
    )
    REFERENCE = _Facts(
        "reference",
        "the op uses a TensorFlow 1 variable",
        "use resource variables (tf.compat.v1.enable_resource_variables)",
    )
    STRING = _Facts(
        "string",
        "the op has string inputs or results",
        "keep strings in the input pipeline",
        card=_Card(fails=True, remedy=_OTHER_OP, meaning="the step processes strings, which the card does not support"),
    )
    CONTROL_FLOW = _Facts(
        "control-flow", "the op is part of a lowered loop or branch", "see rule `lowered` of the loop or branch"
    )
    LOWERED = _Facts("lowered", "the loop or branch cannot be in a cluster", "fix the cause that the reason states")
    LIST_BORDER = _Facts(
        "list-border", "the op shares a TensorList with ops outside clusters", "see the rules of the ops outside"
    )
    LIST_LENGTH = _Facts(
        "list-length",
        "the op uses a TensorList whose length is unknown, or whose length or index cannot be checked",
        "set the loop's maximum_iterations or the TensorArray's size, fill the list, and use the loop's counter or "
        "constants as indices",
    )
    COMMUNICATION = _Facts(
        "communication",
        "the op waits for other processes or devices",
        "nothing: the op runs between clusters",
        expected=True,
    )
    LAUNCH = _Facts(
        "launch", "the op is already a compiled cluster", "nothing", expected=True, label="compiled clusters"
    )
    PREFETCHED = _Facts(
        "prefetched",
        "the op returns a batch that is already in device memory",
        "nothing",
        expected=True,
        label="prefetched batches",
    )
    HOST = _Facts(
        "host", "the op runs on the host for clusters", "nothing", expected=True, label="host work of clusters"
    )
    HOST_SHAPE = _Facts(
        "host-shape",
        "the op computes a size for an op on the host",
        "nothing",
        expected=True,
        label="sizes for the host",
    )
    BORDER = _Facts(
        "border",
        "the op is an argument or a result of the graph",
        "nothing",
        expected=True,
        label="arguments and results",
    )
    CONSTANT = _Facts(
        "constant",
        "the op is a constant outside clusters",
        "nothing",
        expected=True,
        label="constants outside clusters",
    )
    RECURSION = _Facts("recursion", "the op nests function calls too deeply", "unroll the recursion")
    SMALL = _Facts(
        "small",
        "the op's cluster would be too small: variable reads, copies and int32 arithmetic do not count",
        "nothing, or a lower HPU_MIN_CLUSTER_SIZE",
        expected=True,
        label="too few ops for a cluster, not counting copies and int32 arithmetic",
    )
    FUEL = _Facts("fuel", "HPU_CLUSTER_FUEL is used up", "unset HPU_CLUSTER_FUEL")
    JIT_SCOPE = _Facts("jit-scope", "the op is in a tf.xla.experimental.jit_scope", "remove the scope")
    LITE = _Facts("lite", "HPU_CLUSTERING=lite clusters only ops that XLA fuses", "unset HPU_CLUSTERING")
    PARTIAL_RUN = _Facts("partial-run", "a Session runs the graph in parts", "use run() instead of partial_run()")
    UNKNOWN = _Facts(
        "unknown",
        "no pass recorded a reason",
        "report a bug, with the output of `hpu explain --json`",
    )
    # Rules at run time.
    COMPILE_ERROR = _Facts(
        "compile-error",
        "the op did not compile and was moved out of its cluster",
        "see the reason; use another op",
        card=_Card(fails=True),
    )
    FALLBACK = _Facts(
        "fallback",
        "the cluster ran on the CPU",
        "see the reason; TF_CPU_RUNTIME_FALLBACK=forbid raises an error instead",
        card=_Card(fails=True),
    )
    TOO_LARGE = _Facts(
        "too-large",
        "the cluster does not fit the memory of the card that HPU_PJRT_TARGET names",
        "reduce the batch or model, or select a card with more memory",
    )
    DYNAMIC_SHAPES = _Facts(
        "dynamic-shapes",
        "the cluster compiles for each size, because one recipe cannot serve several sizes",
        "fix the cause that the reason states, or pad to few sizes in the program (docs/tuning/dynamic_shapes.md)",
    )
    # Rules of HPU_COMPILE_MODE.
    LAZY = _Facts(
        "lazy", "the cluster has not run often enough to be compiled", "see HPU_LAZY_COMPILE_AFTER", expected=True
    )
    COMPILING = _Facts(
        "compiling", "the cluster ran on the CPU during its compilation in the background", "nothing", expected=True
    )
    MEGAMORPHIC = _Facts(
        "megamorphic",
        "the cluster needs too many recipes for its number of executions",
        "pad the dimension that the reason names",
    )
    NEW_SHAPE = _Facts(
        "new-shape",
        "the cluster has run for less time with these shapes than a compile takes",
        "nothing: it is compiled once that pays; HPU_COMPILE_MODE=strict compiles at once",
        expected=True,
    )
    FASTER_ON_CPU = _Facts(
        "faster-on-cpu",
        "by measured times, the cluster takes longer on the HPU than on the CPU",
        "see the op that the rule compile-error names, if there is one; HPU_COMPILE_MODE=strict runs it on the HPU",
    )
    COMPILE_LIMIT = _Facts(
        "compile-limit", "the cluster takes too long to compile for new shapes", "raise HPU_COMPILE_LIMIT_S"
    )
    NEVER = _Facts("never", "HPU_COMPILE_MODE=never compiles no cluster", "unset HPU_COMPILE_MODE")
    # Rules that separate clusters.
    CYCLE = _Facts("cycle", "ops outside must run between two clusters", "see the rules of the ops outside")
    RESOURCE_HAZARD = _Facts(
        "resource-hazard", "an op on a variable or resource must run between two clusters", "move the op to the end"
    )
    DEADNESS = _Facts("deadness", "the clusters run under different conditions", "see rule `lowered` of the branch")
    LOOP = _Facts("loop", "a lowered loop contains only one of the clusters", "see rule `lowered` of the loop")
    MUST_COMPILE = _Facts(
        "must-compile",
        "a function with jit_compile=True that cannot share a cluster",
        "remove jit_compile=True inside the train step",
    )
    DEVICE = _Facts("device", "the clusters are on different devices", "nothing", expected=True)
    SIZE_LIMIT = _Facts(
        "size-limit",
        "HPU_MAX_CLUSTER_SIZE or a similar setting limits the size of clusters",
        "raise or unset the limit",
    )
    ORDER = _Facts(
        "order",
        "another cluster must run between the clusters",
        "see why the cluster that the reason names is separate",
        label="order of the clusters",
    )
    # Rules of `hpu check` alone.
    RECOMPILES = _Facts(
        "recompiles",
        "each shape of an argument compiles a recipe of its own",
        "pad to a few sizes, drop the remainder of batches, or set TF_ENABLE_DYNAMIC_SHAPES=1 "
        "(docs/tuning/dynamic_shapes.md)",
        card=_Card(fails=True),
    )
    MEMORY = _Facts(
        "memory",
        "the program needs more memory than the card has",
        "reduce the batch size, or compute in bfloat16 (TF_BF16_CONVERSION)",
        card=_Card(fails=True),
    )
    ERROR = _Facts("error", "the program ended with an error", "", card=_Card(fails=True))


RULES = {rule.value: rule for rule in Rule}


def find(name: str) -> Rule:
    """Returns the rule `name`; Rule.UNKNOWN for a name of another version."""
    return RULES.get(name, Rule.UNKNOWN)
