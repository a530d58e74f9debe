// Random programs of data movement: shapes, slices, pads, dynamic slices.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/testing/fuzz/hlo/random_program.h"

namespace hpu::fuzz {
namespace {

RandomProgram Broadcast(const ElementType& type, const Dimensions& dimensions, RandomChoice& random) {
  const auto rank = static_cast<int64_t>(dimensions.size());
  const Dimensions places = random.Subset(rank, random.Between(0, rank));
  Dimensions source;
  for (const int64_t place : places) source.push_back(dimensions[place]);
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, source), Values::kEdges);
  text.Add(ShapeText(type, dimensions), absl::StrCat("broadcast(", x, "), dimensions={", Join(places), "}"));
  return text.Finish("broadcast", 0);
}

// Splits and merges dimensions.
RandomProgram Reshape(const ElementType& type, const Dimensions& dimensions, RandomChoice& random) {
  Dimensions target = {std::accumulate(dimensions.begin(), dimensions.end(), int64_t{1}, std::multiplies<int64_t>())};
  for (int64_t splits = random.Between(0, kMaxRank - 1); splits > 0; --splits) {
    const int64_t i = random.Between(0, static_cast<int64_t>(target.size()) - 1);
    const int64_t factor = random.Between(1, 4);
    if (target[i] % factor != 0) continue;
    target[i] /= factor;
    target.insert(target.begin() + i, factor);
  }
  if (target == Dimensions{1} && random.OneIn(2)) target.clear();
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, dimensions), Values::kEdges);
  text.Add(ShapeText(type, target), absl::StrCat("reshape(", x, ")"));
  return text.Finish("reshape", 0);
}

RandomProgram Transpose(const ElementType& type, const Dimensions& dimensions, RandomChoice& random) {
  const Dimensions order = random.Permutation(static_cast<int64_t>(dimensions.size()));
  Dimensions target;
  for (const int64_t dimension : order) target.push_back(dimensions[dimension]);
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, dimensions), Values::kEdges);
  text.Add(ShapeText(type, target), absl::StrCat("transpose(", x, "), dimensions={", Join(order), "}"));
  return text.Finish("transpose", 0);
}

RandomProgram Slice(const ElementType& type, const Dimensions& dimensions, RandomChoice& random) {
  Dimensions target;
  std::vector<std::string> ranges;
  for (const int64_t size : dimensions) {
    const int64_t begin = random.Between(0, std::max<int64_t>(size - 1, 0));
    const int64_t end = random.Between(std::min(begin + 1, size), size);
    const int64_t stride = random.Between(1, 3);
    target.push_back((end - begin + stride - 1) / stride);
    ranges.push_back(absl::StrCat("[", begin, ":", end, ":", stride, "]"));
  }
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, dimensions), Values::kEdges);
  text.Add(ShapeText(type, target), absl::StrCat("slice(", x, "), slice={", absl::StrJoin(ranges, ", "), "}"));
  return text.Finish("slice", 0);
}

RandomProgram Concatenate(const ElementType& type, Dimensions dimensions, RandomChoice& random) {
  if (dimensions.empty()) dimensions = {2};
  const int64_t axis = random.Between(0, static_cast<int64_t>(dimensions.size()) - 1);
  const int64_t count = random.Between(1, 4);
  ProgramText text;
  std::vector<std::string> parts;
  int64_t size = 0;
  for (int64_t i = 0; i < count; ++i) {
    dimensions[axis] = random.Between(random.OneIn(10) ? 0 : 1, 3);
    size += dimensions[axis];
    const bool repeats = !parts.empty() && dimensions[axis] == 1 && random.OneIn(4);
    parts.push_back(text.Argument(ShapeText(type, dimensions), Values::kEdges));
    if (!repeats) continue;
    parts.push_back(parts.back());
    size += dimensions[axis];
  }
  dimensions[axis] = size;
  text.Add(ShapeText(type, dimensions),
           absl::StrCat("concatenate(", absl::StrJoin(parts, ", "), "), dimensions={", axis, "}"));
  return text.Finish("concatenate", 0);
}

RandomProgram Pad(const ElementType& type, Dimensions dimensions, RandomChoice& random) {
  if (dimensions.empty()) dimensions = {3};
  Dimensions target;
  std::vector<std::string> pads;
  for (const int64_t size : dimensions) {
    const int64_t interior = random.OneIn(3) ? random.Between(1, 2) : 0;
    const int64_t dilated = size == 0 ? 0 : size + (size - 1) * interior;
    const int64_t low = random.Between(-std::min<int64_t>(2, dilated), 2);
    const int64_t high = random.Between(-std::min<int64_t>(2, dilated + std::min<int64_t>(low, 0)), 2);
    target.push_back(std::max<int64_t>(dilated + low + high, 0));
    pads.push_back(absl::StrCat(low, "_", high, "_", interior));
  }
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, dimensions), Values::kEdges);
  const std::string value = text.Argument(ShapeText(type, {}), Values::kEdges);
  text.Add(ShapeText(type, target), absl::StrCat("pad(", x, ", ", value, "), padding=", absl::StrJoin(pads, "x")));
  return text.Finish("pad", 0);
}

RandomProgram Reverse(const ElementType& type, const Dimensions& dimensions, RandomChoice& random) {
  const auto rank = static_cast<int64_t>(dimensions.size());
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, dimensions), Values::kEdges);
  text.Add(ShapeText(type, dimensions),
           absl::StrCat("reverse(", x, "), dimensions={", Join(random.Subset(rank, random.Between(0, rank))), "}"));
  return text.Finish("reverse", 0);
}

RandomProgram Iota(const ElementType& type, Dimensions dimensions, RandomChoice& random) {
  if (dimensions.empty()) dimensions = {4};
  const ElementType& number = type.type_class == TypeClass::kBoolean ? TypeNamed("s32") : type;
  ProgramText text;
  text.Add(ShapeText(number, dimensions),
           absl::StrCat("iota(), iota_dimension=", random.Between(0, static_cast<int64_t>(dimensions.size()) - 1)));
  return text.Finish("iota", 0);
}

}  // namespace

RandomProgram MovementProgram(RandomChoice& random) {
  const ElementType& type = random.Type();
  const Dimensions dimensions = random.ShapeOrEmpty(0, kMaxRank);
  switch (random.Between(0, 7)) {
    case 0:
      return Broadcast(type, dimensions, random);
    case 1:
      return Reshape(type, dimensions, random);
    case 2:
      return Transpose(type, dimensions, random);
    case 3:
      return Slice(type, dimensions, random);
    case 4:
      return Concatenate(type, dimensions, random);
    case 5:
      return Pad(type, dimensions, random);
    case 6:
      return Reverse(type, dimensions, random);
    default:
      return Iota(type, dimensions, random);
  }
}

RandomProgram DynamicSliceProgram(RandomChoice& random) {
  const ElementType& type = random.Type();
  const Dimensions dimensions = random.Shape(1, kMaxRank);
  const ElementType& index = TypeNamed(random.Of(std::vector<const char*>{"s32", "s64", "u32", "s8", "u8"}));
  const bool is_update = random.OneIn(2);
  ProgramText text;
  std::vector<std::string> operands = {text.Argument(ShapeText(type, dimensions), Values::kEdges)};
  Dimensions window;
  for (const int64_t size : dimensions) window.push_back(random.OneIn(3) ? size : random.Between(1, size));
  if (is_update) operands.push_back(text.Argument(ShapeText(type, window), Values::kEdges));
  for (size_t i = 0; i < dimensions.size(); ++i) {
    operands.push_back(random.OneIn(3)
                           ? text.Add(ShapeText(index, {}), absl::StrCat("constant(", random.Between(0, 4), ")"))
                           : text.Argument(ShapeText(index, {}), Values::kIndices));
  }
  if (is_update) {
    text.Add(ShapeText(type, dimensions), absl::StrCat("dynamic-update-slice(", absl::StrJoin(operands, ", "), ")"));
    return text.Finish("dynamic-update-slice", 0);
  }
  text.Add(ShapeText(type, window), absl::StrCat("dynamic-slice(", absl::StrJoin(operands, ", "),
                                                 "), dynamic_slice_sizes={", Join(window), "}"));
  return text.Finish("dynamic-slice", 0);
}

}  // namespace hpu::fuzz
