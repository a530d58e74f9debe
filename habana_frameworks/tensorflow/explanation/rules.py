"""Rules that keep ops off the HPU or out of clusters, or separate clusters, with their meaning and remedy."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Rule:
    """Reason why an op is off the HPU or outside clusters, or why clusters are separate (docs/developer/pamsen.md)."""

    name: str
    meaning: str
    remedy: str
    expected: bool = False
    """The rule applies to ops of every graph and needs no remedy."""
    label: str = ""
    """Words to show instead of the name; empty if the name is clear by itself."""


_TABLE = (
    # Rules that keep ops off the HPU.
    Rule(
        "pinned",
        "a tf.device of the program or of a library places the op on another device",
        "remove the tf.device around the op, unless the op needs it; lookup tables and strategies keep theirs",
    ),
    Rule("op-list", "the active op list does not support the op", "set HPU_OP_LIST=emulator; on a card use another op"),
    Rule("dtype", "the HPU has the op, but not for this dtype", "cast the input to float32, bfloat16 or int32"),
    Rule("rank", "the HPU has the op, but not for tensors of this rank", "reshape the input"),
    Rule(
        "user-setting",
        "a setting keeps the op out",
        "see the op's reason; `hpu doctor` lists the settings",
    ),
    Rule("horovod", "stock Horovod reduces in host memory", "nothing", expected=True),
    Rule("no-kernel", "the HPU has no kernel for the op", "use another op, or keep it in the input pipeline"),
    Rule(
        "neighbours",
        "TensorFlow placed the op on the device of colocated or connected ops",
        "see the rules of the connected ops",
    ),
    Rule(
        "input-pipeline",
        "the input pipeline makes each batch on the CPU, and the step waits until the batch is copied",
        'end the dataset with .apply(tf.data.experimental.prefetch_to_device("/device:HPU:0")), which copies the next '
        "batch during a step",
    ),
    Rule(
        "legacy-variable",
        "the op uses a TensorFlow 1 variable, which a setting places on the CPU",
        "use resource variables",
    ),
    # Rules that keep ops out of clusters.
    Rule("uncompilable", "the op has no XLA lowering", "use another op; this op splits the cluster around it"),
    Rule(
        "lost-error",
        "compiled code cannot raise the op's error",
        "remove prints and check_numerics from the train step; compute divisors and indices outside, and pass them in",
    ),
    Rule(
        "dynamic-size",
        "the size of the op's result depends on values",
        "use a mask (tf.where with three arguments) and fixed sizes",
    ),
    Rule("random", "compiled code would draw different numbers", "use tf.random.uniform, normal or dropout"),
    Rule(
        "changing-constant",
        "the value of a compile-time constant changes",
        "pass shapes, axes and sizes as Python numbers",
    ),
    Rule(
        "resource-handle",
        "the op passes a resource handle to other ops, or uses a resource on another device",
        "create variables outside the function, on the HPU",
    ),
    Rule(
        "side-effect",
        "a loop or branch has a side effect on which some of its results do not depend",
        "put the loop or branch into a tf.function, which runs all side effects",
    ),
    Rule(
        "reference",
        "the op uses a TensorFlow 1 variable",
        "use resource variables (tf.compat.v1.enable_resource_variables)",
    ),
    Rule("string", "the op has string inputs or results", "keep strings in the input pipeline"),
    Rule("control-flow", "the op is part of a lowered loop or branch", "see rule `lowered` of the loop or branch"),
    Rule("lowered", "the loop or branch cannot be in a cluster", "fix the cause that the reason states"),
    Rule("list-border", "the op shares a TensorList with ops outside clusters", "see the rules of the ops outside"),
    Rule(
        "list-length",
        "the op uses a TensorList whose length is unknown, or whose length or index cannot be checked",
        "set the loop's maximum_iterations or the TensorArray's size, fill the list, and use the loop's counter or "
        "constants as indices",
    ),
    Rule(
        "communication",
        "the op waits for other processes or devices",
        "nothing: the op runs between clusters",
        expected=True,
    ),
    Rule("launch", "the op is already a compiled cluster", "nothing", expected=True, label="compiled clusters"),
    Rule(
        "prefetched",
        "the op returns a batch that is already in device memory",
        "nothing",
        expected=True,
        label="prefetched batches",
    ),
    Rule("host", "the op runs on the host for clusters", "nothing", expected=True, label="host work of clusters"),
    Rule(
        "host-shape",
        "the op computes a size for an op on the host",
        "nothing",
        expected=True,
        label="sizes for the host",
    ),
    Rule(
        "border",
        "the op is an argument or a result of the graph",
        "nothing",
        expected=True,
        label="arguments and results",
    ),
    Rule(
        "constant",
        "the op is a constant outside clusters",
        "nothing",
        expected=True,
        label="constants outside clusters",
    ),
    Rule("recursion", "the op nests function calls too deeply", "unroll the recursion"),
    Rule(
        "small",
        "the op's cluster would be too small: variable reads, copies and int32 arithmetic do not count",
        "nothing, or a lower HPU_MIN_CLUSTER_SIZE",
        expected=True,
        label="too few ops for a cluster, not counting copies and int32 arithmetic",
    ),
    Rule("fuel", "HPU_CLUSTER_FUEL is used up", "unset HPU_CLUSTER_FUEL"),
    Rule("jit-scope", "the op is in a tf.xla.experimental.jit_scope", "remove the scope"),
    Rule("lite", "HPU_CLUSTERING=lite clusters only ops that XLA fuses", "unset HPU_CLUSTERING"),
    Rule("partial-run", "a Session runs the graph in parts", "use run() instead of partial_run()"),
    Rule("unknown", "no pass recorded a reason", "report a bug, with the output of `hpu explain --json`"),
    # Rules at run time.
    Rule("compile-error", "the op did not compile and was moved out of its cluster", "see the reason; use another op"),
    Rule(
        "fallback",
        "the cluster ran on the CPU",
        "see the reason; TF_CPU_RUNTIME_FALLBACK=forbid raises an error instead",
    ),
    Rule(
        "too-large",
        "the cluster does not fit the memory of the card that HPU_PJRT_TARGET names",
        "reduce the batch or model, or select a card with more memory",
    ),
    Rule(
        "dynamic-shapes",
        "the cluster compiles for each size, because one recipe cannot serve several sizes",
        "fix the cause that the reason states, or pad to few sizes in the program (docs/tuning/dynamic_shapes.md)",
    ),
    # Rules of HPU_COMPILE_MODE.
    Rule("lazy", "the cluster has not run often enough to be compiled", "see HPU_LAZY_COMPILE_AFTER", expected=True),
    Rule("compiling", "the cluster ran on the CPU during its compilation in the background", "nothing", expected=True),
    Rule(
        "megamorphic",
        "the cluster needs too many recipes for its number of executions",
        "pad the dimension that the reason names",
    ),
    Rule(
        "new-shape",
        "the cluster has run for less time with these shapes than a compile takes",
        "nothing: it is compiled once that pays; HPU_COMPILE_MODE=strict compiles at once",
        expected=True,
    ),
    Rule(
        "faster-on-cpu",
        "by measured times, the cluster takes longer on the HPU than on the CPU",
        "see the op that the rule compile-error names, if there is one; HPU_COMPILE_MODE=strict runs it on the HPU",
    ),
    Rule("compile-limit", "the cluster takes too long to compile for new shapes", "raise HPU_COMPILE_LIMIT_S"),
    Rule("never", "HPU_COMPILE_MODE=never compiles no cluster", "unset HPU_COMPILE_MODE"),
    # Rules that separate clusters.
    Rule("cycle", "ops outside must run between two clusters", "see the rules of the ops outside"),
    Rule("resource-hazard", "an op on a variable or resource must run between two clusters", "move the op to the end"),
    Rule("deadness", "the clusters run under different conditions", "see rule `lowered` of the branch"),
    Rule("loop", "a lowered loop contains only one of the clusters", "see rule `lowered` of the loop"),
    Rule(
        "must-compile",
        "a function with jit_compile=True that cannot share a cluster",
        "remove jit_compile=True inside the train step",
    ),
    Rule("device", "the clusters are on different devices", "nothing", expected=True),
    Rule(
        "size-limit",
        "HPU_MAX_CLUSTER_SIZE or a similar setting limits the size of clusters",
        "raise or unset the limit",
    ),
    Rule(
        "order",
        "another cluster must run between the clusters",
        "see why the cluster that the reason names is separate",
        label="order of the clusters",
    ),
)
RULES = {rule.name: rule for rule in _TABLE}


def find(name: str) -> Rule:
    """Returns the rule `name`. An unknown name yields a rule that refers to the reasons of its ops."""
    return RULES.get(name) or Rule(name, "see the reasons of its ops", "see docs/developer/pamsen.md")
