#include "plugin/testing/fuzz/hlo/random_choice.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace hpu::fuzz {

const std::vector<ElementType>& ElementTypes() {
  static const auto* const types = new std::vector<ElementType>{
      {"f32", TypeClass::kFloat, 32, 1e-5}, {"bf16", TypeClass::kFloat, 16, 3e-2}, {"f16", TypeClass::kFloat, 16, 4e-3},
      {"s8", TypeClass::kSigned, 8, 0},     {"s16", TypeClass::kSigned, 16, 0},    {"s32", TypeClass::kSigned, 32, 0},
      {"s64", TypeClass::kSigned, 64, 0},   {"u8", TypeClass::kUnsigned, 8, 0},    {"u16", TypeClass::kUnsigned, 16, 0},
      {"u32", TypeClass::kUnsigned, 32, 0}, {"u64", TypeClass::kUnsigned, 64, 0},  {"pred", TypeClass::kBoolean, 8, 0}};
  return *types;
}

const ElementType& TypeNamed(const char* name) {
  return *std::find_if(ElementTypes().begin(), ElementTypes().end(),
                       [&](const ElementType& type) { return absl::string_view(type.name) == name; });
}

std::string Join(const Dimensions& numbers, const char* separator) { return absl::StrJoin(numbers, separator); }

std::string ShapeText(const ElementType& type, const Dimensions& dimensions) {
  return absl::StrCat(type.name, "[", Join(dimensions), "]");
}

int64_t RandomChoice::Between(int64_t min, int64_t max) {
  return std::uniform_int_distribution<int64_t>(min, max)(engine_);
}

const ElementType& RandomChoice::TypeOf(const std::vector<TypeClass>& classes) {
  std::vector<const ElementType*> types;
  for (const ElementType& type : ElementTypes()) {
    if (std::find(classes.begin(), classes.end(), type.type_class) != classes.end()) types.push_back(&type);
  }
  return *Of(types);
}

Dimensions RandomChoice::Shape(int64_t min_rank, int64_t max_rank) {
  constexpr int64_t kMaxElements = 96;
  Dimensions dimensions(Between(min_rank, max_rank));
  int64_t elements = 1;
  for (const int64_t i : Permutation(static_cast<int64_t>(dimensions.size()))) {
    dimensions[i] = OneIn(5) ? 1 : Between(1, std::min<int64_t>(5, kMaxElements / elements));
    elements *= dimensions[i];
  }
  return dimensions;
}

Dimensions RandomChoice::ShapeOrEmpty(int64_t min_rank, int64_t max_rank) {
  Dimensions dimensions = Shape(min_rank, max_rank);
  if (!dimensions.empty() && OneIn(40)) dimensions[Between(0, static_cast<int64_t>(dimensions.size()) - 1)] = 0;
  return dimensions;
}

Dimensions RandomChoice::Permutation(int64_t n) {
  Dimensions numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) std::swap(numbers[i], numbers[Between(0, i)]);
  return numbers;
}

Dimensions RandomChoice::Subset(int64_t n, int64_t count) {
  Dimensions numbers = Permutation(n);
  numbers.resize(count);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace hpu::fuzz
