#include "plugin/compiler/dynamic_shapes/size_equality.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/dynamic_shapes/size_arithmetic.h"
#include "plugin/compiler/dynamic_shapes/symbol_values.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::HloInstruction;

constexpr int64_t kMaxEvaluations = 1024;
// If there are too many combinations, sizes of up to this one more than the minimum are drawn more often.
constexpr int64_t kSmallSize = 9;

// The values of all inputs of an evaluation, one after the other.
using SizeValues = std::vector<int64_t>;

// The values for which a predicate is evaluated: all combinations, or a sample.
std::vector<SizeValues> Combinations(const std::vector<SizeRange>& ranges) {
  int64_t all = 1;
  for (const SizeRange& range : ranges) {
    all = std::min(kMaxEvaluations + 1, all * std::min(kMaxEvaluations + 1, range.max - range.min + 1));
  }
  std::vector<SizeValues> combinations;
  if (all <= kMaxEvaluations) {
    for (int64_t n = 0; n < all; ++n) {
      SizeValues& values = combinations.emplace_back();
      int64_t rest = n;
      for (const SizeRange& range : ranges) {
        values.push_back(range.min + rest % (range.max - range.min + 1));
        rest /= range.max - range.min + 1;
      }
    }
    return combinations;
  }
  std::mt19937_64 random(1);
  for (int64_t n = 0; n < kMaxEvaluations; ++n) {
    SizeValues& values = combinations.emplace_back();
    for (const SizeRange& range : ranges) {
      const int64_t most = n % 2 == 0 ? range.max : std::min(range.max, range.min + kSmallSize);
      const int64_t drawn = std::uniform_int_distribution<int64_t>(range.min, most)(random);
      values.push_back(n % 5 == 0 ? range.max - std::min(range.max - range.min, drawn % kSmallSize) : drawn);
    }
  }
  return combinations;
}

// The values of each input among the values of all inputs.
std::vector<SizeValues> Divide(const SizeValues& values, const SizeArithmetic& arithmetic) {
  std::vector<SizeValues> divided;
  auto next = values.begin();
  for (const HloInstruction* input : arithmetic.inputs()) {
    const auto begin = next;
    next += xla::ShapeUtil::ElementsIn(input->shape());
    divided.emplace_back(begin, next);
  }
  return divided;
}

absl::Status NotProven(const std::string& reason) {
  return absl::InvalidArgumentError(absl::StrCat(
      "two dynamic dimensions must have equal sizes, but ", reason,
      ". Compute both sizes in the same way, make them static, or move the op out of the jit_compile=True function"));
}

}  // namespace

absl::Status ProveSizesEqual(const HloInstruction& predicate, int64_t bound, const SizeParameter& symbols,
                             SizeSources* sources) {
  const SizeArithmetic arithmetic({&predicate}, sources);
  std::vector<SizeRange> ranges;
  for (const HloInstruction* input : arithmetic.inputs()) {
    if (IsParameter(*input, symbols.number)) {
      ranges.insert(ranges.end(), symbols.ranges.begin(), symbols.ranges.end());
      continue;
    }
    if (!arithmetic.HasSizesOnly() || xla::ShapeUtil::ElementsIn(input->shape()) != 1) {
      return NotProven(absl::StrCat("they depend on ", input->ToString()));
    }
    ranges.push_back({0, bound});
  }
  for (const SizeValues& values : Combinations(ranges)) {
    HPU_ASSIGN_OR_RETURN(const xla::Literal equal, arithmetic.Evaluate(Divide(values, arithmetic)));
    if (equal.Get<bool>({}, {0})) continue;
    return NotProven(absl::StrCat(
        "they may differ, for example if ",
        absl::StrJoin(arithmetic.inputs(), ", ",
                      [](std::string* text, const HloInstruction* input) { absl::StrAppend(text, input->name()); }),
        " = ", absl::StrJoin(values, ", ")));
  }
  return absl::OkStatus();
}

absl::Status CheckForSymbols(const HloInstruction& predicate, const SizeParameter& symbols, SizeSources* sources) {
  const SymbolSet* const set = SymbolDependencies(symbols, sources).Of(&predicate);
  if (set == nullptr) return absl::OkStatus();
  const std::string node = absl::StrCat(predicate.metadata().op_name(), " (", predicate.metadata().op_type(), ")");
  const std::vector<SizeValues> combinations = CombinationsOf(*set, symbols.ranges);
  if (combinations.empty()) {
    return absl::UnimplementedError(
        absl::StrCat(node, ": a size depends on too many changing sizes; make some of them static"));
  }
  HPU_ASSIGN_OR_RETURN(const std::vector<SizeValues> table, Tabulate({&predicate}, combinations, sources));
  for (size_t i = 0; i < combinations.size(); ++i) {
    if (table[0][i] != 0) continue;
    return absl::UnimplementedError(
        absl::StrCat(node, ": a size may exceed its bound, for example if the changing sizes are ",
                     absl::StrJoin(combinations[i], ", "), "; make the sizes static"));
  }
  return absl::OkStatus();
}

}  // namespace hpu
