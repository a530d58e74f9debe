#include "plugin/compiler/empty_loops.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "xla/comparison_util.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"

namespace hpu {
namespace {

using xla::HloComputationProto;
using xla::HloInstructionProto;

// A computation and the values of its parameters.
struct Scope {
  const HloComputationProto* computation;
  const Scope* caller = nullptr;   // null if the values are unknown
  std::vector<int64_t> arguments;  // instructions of the caller
};

// An instruction that computes a value.
struct Source {
  const Scope* scope;
  const HloInstructionProto* instruction;
};

class EmptyLoops {
 public:
  explicit EmptyLoops(const xla::HloModuleProto& module) {
    for (const HloComputationProto& computation : module.computations()) {
      computations_[computation.id()] = &computation;
      for (const HloInstructionProto& instruction : computation.instructions()) {
        instructions_[instruction.id()] = &instruction;
      }
    }
  }

  // Whether the loop's condition is known to be false for its first values.
  bool IsEmpty(const HloComputationProto& computation, const HloInstructionProto& loop) {
    if (loop.called_computation_ids_size() != 2) return false;
    scopes_.clear();
    const Scope* const outer = &scopes_.emplace_back(Scope{&computation});
    const Scope* const condition = Enter(loop.called_computation_ids(1), *outer, {loop.operand_ids(0)});
    return condition != nullptr && IsFalse(*condition, condition->computation->root_id());
  }

 private:
  const Scope* Enter(int64_t computation, const Scope& caller, std::vector<int64_t> arguments) {
    const auto found = computations_.find(computation);
    if (found == computations_.end()) return nullptr;
    return &scopes_.emplace_back(Scope{found->second, &caller, std::move(arguments)});
  }

  // Follows a value, or the element `path` of a tuple (innermost index first), through tuples, calls and parameters.
  std::optional<Source> SourceOf(const Scope* scope, int64_t id, std::vector<int64_t> path = {}) {
    while (scope != nullptr) {
      const auto found = instructions_.find(id);
      if (found == instructions_.end()) return std::nullopt;
      const HloInstructionProto& instruction = *found->second;
      if (instruction.opcode() == "get-tuple-element") {
        path.push_back(instruction.tuple_index());
        id = instruction.operand_ids(0);
      } else if (instruction.opcode() == "tuple" && !path.empty() && path.back() < instruction.operand_ids_size()) {
        id = instruction.operand_ids(static_cast<int>(path.back()));
        path.pop_back();
      } else if (instruction.opcode() == "copy" || instruction.opcode() == "reshape") {  // of single elements
        id = instruction.operand_ids(0);
      } else if (instruction.opcode() == "parameter") {
        if (instruction.parameter_number() >= static_cast<int64_t>(scope->arguments.size())) return std::nullopt;
        id = scope->arguments[instruction.parameter_number()];
        scope = scope->caller;
      } else if (instruction.opcode() == "call" && instruction.called_computation_ids_size() == 1) {
        scope = Enter(instruction.called_computation_ids(0), *scope,
                      {instruction.operand_ids().begin(), instruction.operand_ids().end()});
        if (scope != nullptr) id = scope->computation->root_id();
      } else {
        return path.empty() ? std::optional(Source{scope, &instruction}) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::optional<int64_t> IntegerOf(const Scope* scope, int64_t id) {
    const std::optional<Source> source = SourceOf(scope, id);
    if (!source.has_value() || source->instruction->opcode() != "constant") return std::nullopt;
    const absl::StatusOr<xla::Literal> literal = xla::Literal::CreateFromProto(source->instruction->literal());
    const bool is_integer = literal.ok() && literal->shape().IsArray() && literal->element_count() == 1 &&
                            xla::primitive_util::IsIntegralType(literal->shape().element_type());
    return is_integer ? literal->GetFirstInteger() : std::nullopt;
  }

  bool IsFalse(const Scope& scope, int64_t id) {
    const std::optional<Source> source = SourceOf(&scope, id);
    if (!source.has_value() || source->instruction->operand_ids_size() != 2) return false;
    const HloInstructionProto& instruction = *source->instruction;
    if (instruction.opcode() == "and") {
      return IsFalse(*source->scope, instruction.operand_ids(0)) || IsFalse(*source->scope, instruction.operand_ids(1));
    }
    if (instruction.opcode() != "compare") return false;
    const std::optional<int64_t> left = IntegerOf(source->scope, instruction.operand_ids(0));
    const std::optional<int64_t> right = IntegerOf(source->scope, instruction.operand_ids(1));
    const auto direction = xla::StringToComparisonDirection(instruction.comparison_direction());
    return left.has_value() && right.has_value() && direction.ok() && !Holds(*direction, *left, *right);
  }

  static bool Holds(xla::ComparisonDirection direction, int64_t left, int64_t right) {
    switch (direction) {
      case xla::ComparisonDirection::kEq:
        return left == right;
      case xla::ComparisonDirection::kNe:
        return left != right;
      case xla::ComparisonDirection::kGe:
        return left >= right;
      case xla::ComparisonDirection::kGt:
        return left > right;
      case xla::ComparisonDirection::kLe:
        return left <= right;
      case xla::ComparisonDirection::kLt:
        return left < right;
    }
    return false;
  }

  absl::flat_hash_map<int64_t, const HloComputationProto*> computations_;
  absl::flat_hash_map<int64_t, const HloInstructionProto*> instructions_;
  std::deque<Scope> scopes_;  // of one condition; their addresses stay
};

// Replaces the instruction wherever the computation uses it.
void Replace(int64_t instruction, int64_t by, HloComputationProto* computation) {
  for (HloInstructionProto& user : *computation->mutable_instructions()) {
    for (int64_t& operand : *user.mutable_operand_ids()) {
      if (operand == instruction) operand = by;
    }
  }
  if (computation->root_id() == instruction) computation->set_root_id(by);
}

}  // namespace

void RemoveEmptyLoops(xla::HloModuleProto* module) {
  EmptyLoops loops(*module);
  for (HloComputationProto& computation : *module->mutable_computations()) {
    for (const HloInstructionProto& instruction : computation.instructions()) {
      if (instruction.opcode() != "while" || !loops.IsEmpty(computation, instruction)) continue;
      Replace(instruction.id(), instruction.operand_ids(0), &computation);
    }
  }
}

}  // namespace hpu
