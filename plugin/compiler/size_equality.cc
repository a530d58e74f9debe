#include "plugin/compiler/size_equality.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Maximum number of evaluations, and of elements of an array of sizes.
constexpr int64_t kMaxEvaluations = 1024, kMaxSizes = 64;
// If there are too many combinations, sizes from 0 to this one are drawn more often.
constexpr int64_t kSmallSize = 9;

bool IsSizes(const xla::Shape& shape) {
  return shape.IsArray() && xla::ShapeUtil::ElementsIn(shape) <= kMaxSizes &&
         (shape.element_type() == xla::PRED || xla::primitive_util::IsIntegralType(shape.element_type()));
}

bool IsArithmetic(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAbs:
    case HloOpcode::kAdd:
    case HloOpcode::kAnd:
    case HloOpcode::kBroadcast:
    case HloOpcode::kClamp:
    case HloOpcode::kCompare:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConstant:
    case HloOpcode::kConvert:
    case HloOpcode::kDivide:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMultiply:
    case HloOpcode::kNegate:
    case HloOpcode::kNot:
    case HloOpcode::kOr:
    case HloOpcode::kRemainder:
    case HloOpcode::kReshape:
    case HloOpcode::kSelect:
    case HloOpcode::kSlice:
    case HloOpcode::kSubtract:
      return absl::c_all_of(instruction.operands(),
                            [](const HloInstruction* operand) { return IsSizes(operand->shape()); });
    default:
      return false;
  }
}

// The arithmetic that computes a predicate. Other values are parameters.
class SizeArithmetic {
 public:
  explicit SizeArithmetic(const HloInstruction& predicate)
      : builder_("sizes"), module_("sizes", xla::HloModuleConfig()) {
    Add(&predicate);
    module_.AddEntryComputation(builder_.Build());
  }

  // The parameters, which are not valid sizes if IsSizes is false for one.
  const std::vector<const HloInstruction*>& parameters() const { return parameters_; }

  absl::StatusOr<bool> Evaluate(const std::vector<int64_t>& sizes) const {
    std::vector<xla::Literal> arguments;
    for (size_t i = 0; i < sizes.size(); ++i) {
      TF_ASSIGN_OR_RETURN(xla::Literal literal, xla::LiteralUtil::CreateR0<int64_t>(sizes[i]).Convert(
                                                    parameters_[i]->shape().element_type()));
      TF_ASSIGN_OR_RETURN(arguments.emplace_back(), literal.Reshape(parameters_[i]->shape().dimensions()));
    }
    TF_ASSIGN_OR_RETURN(const xla::Literal result, xla::HloEvaluator().Evaluate(module_, arguments));
    return result.Get<bool>({});
  }

 private:
  HloInstruction* Add(const HloInstruction* instruction) {
    if (const auto known = copies_.find(instruction); known != copies_.end()) return known->second;
    HloInstruction* copy = nullptr;
    if (IsArithmetic(*instruction)) {
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : instruction->operands()) operands.push_back(Add(operand));
      copy = builder_.AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands));
    } else {
      copy = builder_.AddInstruction(HloInstruction::CreateParameter(static_cast<int64_t>(parameters_.size()),
                                                                     instruction->shape(), instruction->name()));
      parameters_.push_back(instruction);
    }
    copies_.emplace(instruction, copy);
    return copy;
  }

  xla::HloComputation::Builder builder_;
  xla::HloModule module_;
  std::vector<const HloInstruction*> parameters_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies_;
};

// The combinations of sizes for which a predicate is evaluated.
std::vector<std::vector<int64_t>> Combinations(int64_t count, int64_t bound) {
  int64_t all = 1;
  for (int64_t i = 0; i < count && all <= kMaxEvaluations; ++i) all *= bound + 1;
  std::vector<std::vector<int64_t>> combinations;
  if (all <= kMaxEvaluations) {
    for (int64_t n = 0; n < all; ++n) {
      std::vector<int64_t>& sizes = combinations.emplace_back();
      for (int64_t i = 0, rest = n; i < count; ++i, rest /= bound + 1) sizes.push_back(rest % (bound + 1));
    }
    return combinations;
  }
  std::mt19937_64 random(1);
  for (int64_t n = 0; n < kMaxEvaluations; ++n) {
    std::vector<int64_t>& sizes = combinations.emplace_back();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t most = n % 2 == 0 ? bound : std::min(bound, kSmallSize);
      const int64_t drawn = std::uniform_int_distribution<int64_t>(0, most)(random);
      sizes.push_back(n % 5 == 0 ? bound - std::min(bound, drawn % kSmallSize) : drawn);
    }
  }
  return combinations;
}

absl::Status NotProven(const std::string& reason) {
  return absl::InvalidArgumentError(absl::StrCat(
      "two dynamic dimensions must have equal sizes, but ", reason,
      ". Compute both sizes in the same way, make them static, or move the op out of the jit_compile=True function"));
}

}  // namespace

absl::Status ProveSizesEqual(const HloInstruction& predicate, int64_t bound) {
  const SizeArithmetic arithmetic(predicate);
  for (const HloInstruction* parameter : arithmetic.parameters()) {
    if (IsSizes(parameter->shape()) && xla::ShapeUtil::ElementsIn(parameter->shape()) == 1) continue;
    return NotProven(absl::StrCat("they depend on ", parameter->ToString()));
  }
  for (const std::vector<int64_t>& sizes : Combinations(static_cast<int64_t>(arithmetic.parameters().size()), bound)) {
    TF_ASSIGN_OR_RETURN(const bool equal, arithmetic.Evaluate(sizes));
    if (equal) continue;
    std::string values;
    for (size_t i = 0; i < sizes.size(); ++i) {
      absl::StrAppend(&values, i > 0 ? ", " : "", arithmetic.parameters()[i]->name(), " = ", sizes[i]);
    }
    return NotProven(absl::StrCat("they may differ, for example if ", values));
  }
  return absl::OkStatus();
}

}  // namespace hpu
