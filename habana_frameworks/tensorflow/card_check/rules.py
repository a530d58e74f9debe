"""Rules of a card that a program can break."""

from __future__ import annotations

import dataclasses

from habana_frameworks.tensorflow import explanation


@dataclasses.dataclass(frozen=True)
class CardRule:
    """A rule of a card. A rule that the passes also have (explanation.RULES) has the same name there."""

    name: str
    meaning: str
    remedy: str
    fails: bool
    """Whether a violation fails the check; otherwise it is a note."""


def _like_explain(name: str, fails: bool, remedy: str = "") -> CardRule:
    rule = explanation.RULES[name]
    return CardRule(name, rule.meaning, remedy or rule.remedy, fails)


_OTHER_OP = "use another op, or move the computation to the input pipeline"
_FIXED_SIZE = "use a mask (tf.where with three arguments) and fixed sizes"

RULES = {
    rule.name: rule
    for rule in (
        # Ops that leave the HPU.
        _like_explain(
            "dtype",
            True,
            "cast to float32, bfloat16 or int32 before this line, or give the op such a dtype or output_type",
        ),
        _like_explain("rank", True, "reshape to at most 5 dimensions"),
        _like_explain("op-list", True, _OTHER_OP),
        _like_explain("no-kernel", True, _OTHER_OP),
        _like_explain("uncompilable", True, _OTHER_OP),
        _like_explain("compile-error", True),
        _like_explain("fallback", True),
        CardRule("string", "the step processes strings, which the card does not support", _OTHER_OP, True),
        _like_explain("pinned", False),
        _like_explain("lost-error", False),
        _like_explain("legacy-variable", False),
        _like_explain("random", False),
        # Shapes.
        CardRule("dynamic-size", "the shape of a result depends on values", _FIXED_SIZE, True),
        CardRule("changing-constant", "a shape, axis or size depends on values", "pass Python numbers", True),
        CardRule(
            "recompiles",
            "each shape of an argument compiles a recipe of its own",
            "pad to a few sizes, drop the remainder of batches, or set TF_ENABLE_DYNAMIC_SHAPES=1 "
            "(docs/tuning/dynamic_shapes.md)",
            True,
        ),
        # Memory.
        CardRule(
            "memory",
            "the program needs more memory than the card has",
            "reduce the batch size, or compute in bfloat16 (TF_BF16_CONVERSION)",
            True,
        ),
        CardRule("error", "the program ended with an error", "", True),
    )
}
