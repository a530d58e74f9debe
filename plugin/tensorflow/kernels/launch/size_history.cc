#include "plugin/tensorflow/kernels/launch/size_history.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/hash/hash.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"

namespace hpu {
namespace {

using Arguments = std::vector<ArgumentDescription>;
using Kind = ArgumentDescription::Kind;

constexpr size_t kFamilies = 16;       // further families have no symbols
constexpr size_t kSymbols = 16;        // maximum number of symbols
constexpr int64_t kElements = 64;      // maximum number of elements of a constant with symbols
constexpr int64_t kLargestOffset = 8;  // between two numbers of one symbol

template <typename T>
bool FitInt32(const tensorflow::Tensor& values) {
  const auto flat = values.flat<T>();
  return std::all_of(flat.data(), flat.data() + flat.size(), [](T value) {
    return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  });
}

// Number of numbers of an argument that may have symbols.
int CountNumbers(const ArgumentDescription& argument) {
  if (argument.kind == Kind::kParameter) return argument.shape.dims();
  if (argument.kind != Kind::kConstant || argument.constant.NumElements() > kElements) return 0;
  const bool fits = argument.dtype == tensorflow::DT_INT32 ||
                    (argument.dtype == tensorflow::DT_INT64 && FitInt32<int64_t>(argument.constant));
  return fits ? static_cast<int>(argument.constant.NumElements()) : 0;
}

// The numbers, in the order of arguments and positions, without symbols.
std::vector<SymbolicNumber> NumbersOf(const Arguments& arguments) {
  std::vector<SymbolicNumber> numbers;
  for (int i = 0; i < static_cast<int>(arguments.size()); ++i) {
    for (int position = 0; position < CountNumbers(arguments[i]); ++position) numbers.push_back({i, position, -1, 0});
  }
  return numbers;
}

uint64_t FamilyOf(Arguments arguments, const std::vector<SymbolicNumber>& numbers) {
  for (const SymbolicNumber& number : numbers) SetNumber(number.position, 0, &arguments[number.argument]);
  return SignatureOf(arguments).Fingerprint();
}

}  // namespace

SizeRange BucketOf(int64_t size) {
  if (size <= 4) return {2, 4};
  int64_t power = 4;
  while (2 * power < size) power *= 2;
  const int64_t middle = power + power / 2;
  return size <= middle ? SizeRange{power + 1, middle} : SizeRange{middle + 1, 2 * power};
}

std::optional<BoundedArguments> SizeHistory::Add(const Arguments& arguments) {
  std::vector<SymbolicNumber> numbers = NumbersOf(arguments);
  std::vector<int64_t> values;
  for (const SymbolicNumber& number : numbers) {
    values.push_back(NumberOf(arguments[number.argument], number.position));
  }
  const uint64_t fingerprint = FamilyOf(arguments, numbers);
  const auto found = families_.find(fingerprint);
  // A family of the notes may have another number of values if they were damaged.
  if (found == families_.end() || found->second.first.size() != values.size()) {
    if (families_.size() < kFamilies) {
      const size_t count = values.size();
      families_[fingerprint] = Family{std::move(values), std::vector<uint64_t>(count, 0), 1};
    }
    return std::nullopt;
  }
  Family& family = found->second;
  ++family.signatures;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t change = values[i] - family.first[i];
    if (change != 0)
      family.changes[i] = std::max<uint64_t>(1, absl::HashOf(family.changes[i], family.signatures, change));
  }
  BoundedArguments bounded;
  bounded.arguments = arguments;
  std::vector<std::pair<uint64_t, int64_t>> symbols;  // changes and value of each symbol
  for (size_t i = 0; i < values.size(); ++i) {
    if (family.changes[i] == 0) continue;
    if (values[i] < 2 || values[i] >= std::numeric_limits<int32_t>::max() / 2) return std::nullopt;
    SymbolicNumber number = numbers[i];
    const auto same = absl::c_find_if(symbols, [&](const auto& symbol) {
      return symbol.first == family.changes[i] && std::abs(symbol.second - values[i]) <= kLargestOffset;
    });
    number.symbol = static_cast<int>(same - symbols.begin());
    if (same == symbols.end()) {
      symbols.emplace_back(family.changes[i], values[i]);
      bounded.symbols.push_back(BucketOf(values[i]));
    }
    number.offset = values[i] - symbols[number.symbol].second;
    SizeRange& range = bounded.symbols[number.symbol];
    range.min = std::max(range.min, 2 - number.offset);
    bounded.numbers.push_back(number);
  }
  if (symbols.empty() || symbols.size() > kSymbols) return std::nullopt;
  for (const SymbolicNumber& number : bounded.numbers) {
    SetNumber(number.position, bounded.symbols[number.symbol].max + number.offset, &bounded.arguments[number.argument]);
  }
  return bounded;
}

bool SizeHistory::Save(recipe::v1::ClusterNotes* notes) const {
  bool changes = false;
  for (const auto& [fingerprint, family] : families_) {
    recipe::v1::ClusterNotes::Family& saved = *notes->add_families();
    saved.set_fingerprint(fingerprint);
    saved.mutable_first()->Add(family.first.begin(), family.first.end());
    saved.mutable_groups()->Add(family.changes.begin(), family.changes.end());
    changes |= absl::c_any_of(family.changes, [](uint64_t change) { return change != 0; });
  }
  return changes;
}

void SizeHistory::Load(const recipe::v1::ClusterNotes& notes) {
  for (const recipe::v1::ClusterNotes::Family& saved : notes.families()) {
    if (families_.size() >= kFamilies || saved.first_size() != saved.groups_size()) continue;
    families_[saved.fingerprint()] = Family{std::vector<int64_t>(saved.first().begin(), saved.first().end()),
                                            std::vector<uint64_t>(saved.groups().begin(), saved.groups().end()), 1};
  }
}

}  // namespace hpu
