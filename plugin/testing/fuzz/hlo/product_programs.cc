// Random programs of products: dot and convolution.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/testing/fuzz/hlo/random_program.h"

namespace hpu::fuzz {
namespace {

// Twice the type's tolerance, because a sum of products rounds several times.
double ProductTolerance(const ElementType& type) { return 2 * type.tolerance; }

// An operand of a dot. Its dimensions consist of several parts, in random order. places[i]: the dimensions of part i.
struct DotOperand {
  Dimensions dimensions;
  std::vector<Dimensions> places;
};

DotOperand ShuffledOperand(const std::vector<Dimensions>& parts, RandomChoice& random) {
  Dimensions sizes;
  for (const Dimensions& part : parts) sizes.insert(sizes.end(), part.begin(), part.end());
  const Dimensions order = random.Permutation(static_cast<int64_t>(sizes.size()));
  DotOperand operand;
  operand.dimensions.resize(sizes.size());
  size_t next = 0;
  for (const Dimensions& part : parts) {
    Dimensions places;
    for (size_t i = 0; i < part.size(); ++i, ++next) {
      places.push_back(order[next]);
      operand.dimensions[order[next]] = sizes[next];
    }
    operand.places.push_back(places);
  }
  return operand;
}

// Sizes of the dimensions that are in neither places[0] nor places[1], in order.
Dimensions FreeDimensions(const DotOperand& operand) {
  Dimensions free;
  for (int64_t i = 0; i < static_cast<int64_t>(operand.dimensions.size()); ++i) {
    const auto has = [&](const Dimensions& places) {
      return std::find(places.begin(), places.end(), i) != places.end();
    };
    if (!has(operand.places[0]) && !has(operand.places[1])) free.push_back(operand.dimensions[i]);
  }
  return free;
}

struct Spatial {
  int64_t input, kernel, stride, low, high, input_dilation, kernel_dilation, output;
  bool reversed;
};

Spatial RandomSpatial(RandomChoice& random) {
  for (;;) {
    Spatial s;
    s.input = random.Between(1, 6);
    s.kernel = random.Between(1, 3);
    s.stride = random.OneIn(2) ? 1 : random.Between(1, 3);
    s.low = random.Between(random.OneIn(4) ? -1 : 0, 2);
    s.high = random.Between(random.OneIn(4) ? -1 : 0, 2);
    s.input_dilation = random.OneIn(3) ? random.Between(1, 3) : 1;
    s.kernel_dilation = random.OneIn(3) ? random.Between(1, 2) : 1;
    s.reversed = random.OneIn(6);
    const int64_t padded = (s.input - 1) * s.input_dilation + 1 + s.low + s.high;
    const int64_t window = (s.kernel - 1) * s.kernel_dilation + 1;
    if (padded < window) continue;
    s.output = (padded - window) / s.stride + 1;
    return s;
  }
}

std::string WindowText(const std::vector<Spatial>& spatial) {
  const auto joined = [&](const auto& text) {
    return absl::StrJoin(spatial, "x", [&](std::string* out, const Spatial& s) { absl::StrAppend(out, text(s)); });
  };
  return absl::StrCat("window={size=", joined([](const Spatial& s) { return absl::StrCat(s.kernel); }),
                      " stride=", joined([](const Spatial& s) { return absl::StrCat(s.stride); }),
                      " pad=", joined([](const Spatial& s) { return absl::StrCat(s.low, "_", s.high); }),
                      " lhs_dilate=", joined([](const Spatial& s) { return absl::StrCat(s.input_dilation); }),
                      " rhs_dilate=", joined([](const Spatial& s) { return absl::StrCat(s.kernel_dilation); }),
                      " rhs_reversal=", joined([](const Spatial& s) { return absl::StrCat(s.reversed ? 1 : 0); }), "}");
}

// Dimension labels and sizes of a convolution's array, in the same order.
struct Labelled {
  std::string labels;
  Dimensions dimensions;
};

Labelled Order(const std::string& labels, const Dimensions& sizes, const Dimensions& order) {
  Labelled labelled;
  for (const int64_t i : order) {
    labelled.labels += labels[i];
    labelled.dimensions.push_back(sizes[i]);
  }
  return labelled;
}

}  // namespace

RandomProgram DotProgram(RandomChoice& random) {
  const ElementType& type =
      random.TypeOf({TypeClass::kFloat, TypeClass::kFloat, TypeClass::kSigned, TypeClass::kUnsigned});
  const auto part = [&](int64_t max_rank, int64_t max_size) {
    Dimensions sizes(random.Between(0, max_rank));
    for (int64_t& size : sizes) size = random.Between(1, max_size);
    return sizes;
  };
  const Dimensions batch = part(2, 3);
  Dimensions contracted = part(2, 4);
  if (contracted.empty() && random.OneIn(2)) contracted = {random.Between(1, 9)};
  if (!contracted.empty() && random.OneIn(40)) contracted[0] = 0;
  const DotOperand left = ShuffledOperand({batch, contracted, part(2, 4)}, random);
  const DotOperand right = ShuffledOperand({batch, contracted, part(2, 4)}, random);
  Dimensions result = batch;
  for (const DotOperand* operand : {&left, &right}) {
    const Dimensions free = FreeDimensions(*operand);
    result.insert(result.end(), free.begin(), free.end());
  }
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, left.dimensions), Values::kSmall);
  const std::string y = text.Argument(ShapeText(type, right.dimensions), Values::kSmall);
  text.Add(ShapeText(type, result),
           absl::StrCat("dot(", x, ", ", y, "), lhs_batch_dims={", Join(left.places[0]), "}, lhs_contracting_dims={",
                        Join(left.places[1]), "}, rhs_batch_dims={", Join(right.places[0]), "}, rhs_contracting_dims={",
                        Join(right.places[1]), "}"));
  return text.Finish("dot", ProductTolerance(type));
}

RandomProgram ConvolutionProgram(RandomChoice& random) {
  const ElementType& type = random.OneIn(2) ? TypeNamed("f32") : random.TypeOf({TypeClass::kFloat});
  std::vector<Spatial> spatial;
  for (int64_t i = random.OneIn(6) ? 0 : random.Between(1, 3); i > 0; --i) spatial.push_back(RandomSpatial(random));
  const int64_t groups = random.OneIn(3) ? random.Between(2, 3) : 1;
  const bool by_batch = groups > 1 && random.OneIn(3);
  const int64_t batch = random.Between(1, 2);
  const int64_t input_features = random.Between(1, 3);
  const int64_t output_features = random.Between(1, 2) * groups;
  Dimensions input = {by_batch ? batch * groups : batch, by_batch ? input_features : input_features * groups};
  Dimensions kernel = {input_features, output_features};
  Dimensions output = {batch, output_features};
  std::string digits;
  for (size_t i = 0; i < spatial.size(); ++i) {
    input.push_back(spatial[i].input);
    kernel.push_back(spatial[i].kernel);
    output.push_back(spatial[i].output);
    digits += static_cast<char>('0' + i);
  }
  const auto rank = static_cast<int64_t>(input.size());
  // TensorFlow's order of dimensions, or any.
  Dimensions channels_last;
  for (int64_t i = 0; i < rank; ++i) channels_last.push_back(i == 0 ? 0 : i == rank - 1 ? 1 : i + 1);
  Dimensions kernel_last = channels_last;
  std::rotate(kernel_last.begin(), kernel_last.begin() + 1, kernel_last.end());
  std::swap(kernel_last[rank - 2], kernel_last[rank - 1]);
  const bool is_usual = random.OneIn(2);
  const Labelled x = Order("bf" + digits, input, is_usual ? channels_last : random.Permutation(rank));
  const Labelled w = Order("io" + digits, kernel, is_usual ? kernel_last : random.Permutation(rank));
  const Labelled y = Order("bf" + digits, output, is_usual ? channels_last : random.Permutation(rank));
  ProgramText text;
  const std::string image = text.Argument(ShapeText(type, x.dimensions), Values::kSmall);
  const std::string filter = text.Argument(ShapeText(type, w.dimensions), Values::kSmall);
  text.Add(ShapeText(type, y.dimensions),
           absl::StrCat("convolution(", image, ", ", filter, "), ", spatial.empty() ? "" : WindowText(spatial) + ", ",
                        "dim_labels=", x.labels, "_", w.labels, "->", y.labels,
                        by_batch ? ", batch_group_count=" : ", feature_group_count=", groups));
  return text.Finish("convolution", ProductTolerance(type));
}

}  // namespace hpu::fuzz
