#include "plugin/backends/gaudi/lowerings/iteration_count.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Elements that decide on iterations are scalars or short arrays.
constexpr int64_t kMaxElements = 16;

// Instructions that a value depends on, operands first, up to the elements of the computation's state.
class Cone {
 public:
  // False if the value depends on more than elements of the state, or on large arrays.
  bool Add(const HloInstruction* value) {
    if (!seen_.insert(value).second) return true;
    if (!value->shape().IsArray() || xla::ShapeUtil::ElementsIn(value->shape()) > kMaxElements) return false;
    if (IsElement(value)) {
      elements_.insert(value->tuple_index());
      return true;
    }
    if (value->opcode() == HloOpcode::kParameter || !value->called_computations().empty() || value->HasSideEffect()) {
      return false;
    }
    for (const HloInstruction* operand : value->operands()) {
      if (!Add(operand)) return false;
    }
    order_.push_back(value);
    return true;
  }

  static bool IsElement(const HloInstruction* value) {
    return value->opcode() == HloOpcode::kGetTupleElement && value->operand(0)->opcode() == HloOpcode::kParameter;
  }

  // Indices of the elements of the state that the values depend on.
  const absl::flat_hash_set<int64_t>& elements() const { return elements_; }

  // Values for elements of the state: evaluates the instructions.
  using Values = absl::flat_hash_map<const HloInstruction*, xla::Literal>;
  absl::StatusOr<Values> Evaluate(const absl::flat_hash_map<int64_t, xla::Literal>& state) const {
    Values values;
    for (const HloInstruction* value : seen_) {
      if (IsElement(value)) values.emplace(value, state.at(value->tuple_index()).Clone());
    }
    for (const HloInstruction* value : order_) {
      absl::flat_hash_map<const HloInstruction*, const xla::Literal*> operands;
      for (const HloInstruction* operand : value->operands()) operands[operand] = &values.at(operand);
      xla::HloEvaluator evaluator;
      HPU_ASSIGN_OR_RETURN(xla::Literal literal, evaluator.EvaluateWithSubstitutions(value, operands));
      values.emplace(value, std::move(literal));
    }
    return values;
  }

 private:
  absl::flat_hash_set<const HloInstruction*> seen_;
  absl::flat_hash_set<int64_t> elements_;
  std::vector<const HloInstruction*> order_;
};

// The elements that decide on iterations, with what computes them.
struct Control {
  Cone condition;
  Cone body;
  absl::flat_hash_set<int64_t> elements;
};

std::optional<Control> ControlOf(const HloInstruction* loop) {
  Control control;
  const HloInstruction* next = loop->while_body()->root_instruction();
  if (next->opcode() != HloOpcode::kTuple) return std::nullopt;
  if (!control.condition.Add(loop->while_condition()->root_instruction())) return std::nullopt;
  std::vector<int64_t> open(control.condition.elements().begin(), control.condition.elements().end());
  while (!open.empty()) {
    const int64_t index = open.back();
    open.pop_back();
    if (!control.elements.insert(index).second) continue;
    if (!control.body.Add(next->operand(index))) return std::nullopt;
    open.insert(open.end(), control.body.elements().begin(), control.body.elements().end());
  }
  return control;
}

absl::StatusOr<int64_t> Simulate(const HloInstruction* loop, const Control& control, int64_t max_count) {
  absl::flat_hash_map<int64_t, xla::Literal> state;
  for (const int64_t index : control.elements) {
    xla::HloEvaluator evaluator;
    HPU_ASSIGN_OR_RETURN(xla::Literal initial, evaluator.Evaluate(loop->operand(0)->operand(index),
                                                                  /*recursively_evaluate_nonconstant_operands=*/true));
    state.emplace(index, std::move(initial));
  }
  const HloInstruction* condition = loop->while_condition()->root_instruction();
  const HloInstruction* next = loop->while_body()->root_instruction();
  for (int64_t count = 0; count <= max_count; ++count) {
    HPU_ASSIGN_OR_RETURN(const Cone::Values now, control.condition.Evaluate(state));
    if (!now.at(condition).Get<bool>({})) return count;
    HPU_ASSIGN_OR_RETURN(const Cone::Values later, control.body.Evaluate(state));
    for (auto& [index, literal] : state) literal = later.at(next->operand(index)).Clone();
  }
  return absl::OutOfRangeError("too many iterations");
}

}  // namespace

std::optional<int64_t> IterationCount(const HloInstruction* loop, int64_t max_count) {
  if (loop->operand(0)->opcode() != HloOpcode::kTuple) return std::nullopt;
  const std::optional<Control> control = ControlOf(loop);
  if (!control.has_value()) return std::nullopt;
  const absl::StatusOr<int64_t> count = Simulate(loop, *control, max_count);
  return count.ok() ? std::optional<int64_t>(*count) : std::nullopt;
}

}  // namespace hpu::gaudi
