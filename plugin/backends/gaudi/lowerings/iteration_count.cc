#include "plugin/backends/gaudi/lowerings/iteration_count.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/xla_compat.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Elements that decide on iterations are scalars or short arrays.
constexpr int64_t kMaxElements = 16;

// The instructions that values depend on, down to the elements of the loop's state.
class Cone {
 public:
  // False if the value depends on more than elements of the state, or on large arrays.
  bool Add(const HloInstruction* value) {
    if (!seen_.insert(value).second) return true;
    if (!value->shape().IsArray() || xla::ShapeUtil::ElementsIn(value->shape()) > kMaxElements) return false;
    if (IsElement(value)) {
      elements_.insert(value->tuple_index());
    } else {
      if (value->opcode() == HloOpcode::kParameter || !value->called_computations().empty() || value->HasSideEffect()) {
        return false;
      }
      for (const HloInstruction* operand : value->operands()) {
        if (!Add(operand)) return false;
      }
    }
    order_.push_back(value);
    return true;
  }

  // Indices of the elements of the state that the values depend on.
  const absl::flat_hash_set<int64_t>& elements() const { return elements_; }

  // A module from the state's elements `arguments`, in this order, to a tuple of the values `results`.
  std::unique_ptr<xla::HloModule> Build(const std::vector<int64_t>& arguments, const xla::Shape& state,
                                        const std::vector<const HloInstruction*>& results) const {
    xla::HloComputation::Builder builder("iteration");
    absl::flat_hash_map<int64_t, HloInstruction*> parameters;
    for (size_t i = 0; i < arguments.size(); ++i) {
      parameters[arguments[i]] = builder.AddInstruction(HloInstruction::CreateParameter(
          static_cast<int64_t>(i), state.tuple_shapes(static_cast<int>(arguments[i])), "element"));
    }
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
    for (const HloInstruction* value : order_) {
      if (IsElement(value)) {
        copies[value] = parameters.at(value->tuple_index());
        continue;
      }
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : value->operands()) operands.push_back(copies.at(operand));
      copies[value] = builder.AddInstruction(value->CloneWithNewOperands(value->shape(), operands));
    }
    std::vector<HloInstruction*> elements;
    for (const HloInstruction* result : results) elements.push_back(copies.at(result));
    HloInstruction* root = builder.AddInstruction(HloInstruction::CreateTuple(elements));
    auto module = std::make_unique<xla::HloModule>("iteration", xla::HloModuleConfig());
    module->AddEntryComputation(builder.Build(root));
    return module;
  }

 private:
  static bool IsElement(const HloInstruction* value) {
    return value->opcode() == HloOpcode::kGetTupleElement && value->operand(0)->opcode() == HloOpcode::kParameter;
  }

  absl::flat_hash_set<const HloInstruction*> seen_;
  absl::flat_hash_set<int64_t> elements_;
  std::vector<const HloInstruction*> order_;  // operands first
};

absl::StatusOr<std::vector<xla::Literal>> Evaluate(const xla::HloModule& module,
                                                   const std::vector<xla::Literal>& arguments) {
  std::vector<const xla::Literal*> pointers;
  for (const xla::Literal& argument : arguments) pointers.push_back(&argument);
  HPU_ASSIGN_OR_RETURN(xla::Literal results, xla::HloEvaluator().Evaluate(module, pointers));
  return results.DecomposeTuple();
}

// The part of a loop that decides on iterations.
struct Control {
  std::vector<int64_t> elements;              // of the state
  std::unique_ptr<xla::HloModule> condition;  // from the elements to (whether an iteration follows)
  std::unique_ptr<xla::HloModule> next;       // from the elements to the elements after an iteration
};

std::optional<Control> ControlOf(const HloInstruction* loop) {
  const HloInstruction* condition = loop->while_condition()->root_instruction();
  const HloInstruction* next = loop->while_body()->root_instruction();
  Cone condition_cone;
  Cone body_cone;
  if (next->opcode() != HloOpcode::kTuple || !condition_cone.Add(condition)) return std::nullopt;
  absl::flat_hash_set<int64_t> known;
  std::vector<int64_t> open(condition_cone.elements().begin(), condition_cone.elements().end());
  while (!open.empty()) {
    const int64_t index = open.back();
    open.pop_back();
    if (!known.insert(index).second) continue;
    if (!body_cone.Add(next->operand(index))) return std::nullopt;
    open.insert(open.end(), body_cone.elements().begin(), body_cone.elements().end());
  }
  Control control;
  control.elements.assign(known.begin(), known.end());
  std::vector<const HloInstruction*> later;
  for (const int64_t index : control.elements) later.push_back(next->operand(index));
  control.condition = condition_cone.Build(control.elements, loop->shape(), {condition});
  control.next = body_cone.Build(control.elements, loop->shape(), later);
  return control;
}

absl::StatusOr<int64_t> Simulate(const HloInstruction* loop, const Control& control, int64_t max_count) {
  std::vector<xla::Literal> state;
  for (const int64_t index : control.elements) {
    HPU_ASSIGN_OR_RETURN(xla::Literal initial, compat::EvaluateRecursively(loop->operand(0)->operand(index)));
    state.push_back(std::move(initial));
  }
  for (int64_t count = 0; count <= max_count; ++count) {
    HPU_ASSIGN_OR_RETURN(const std::vector<xla::Literal> goes_on, Evaluate(*control.condition, state));
    if (!goes_on[0].Get<bool>({})) return count;
    HPU_ASSIGN_OR_RETURN(state, Evaluate(*control.next, state));
  }
  return absl::OutOfRangeError(absl::StrCat("the loop has more than ", max_count, " iterations"));
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
