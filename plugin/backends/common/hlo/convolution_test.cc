// Tests of convolutions as tf2xla emits them, and of random convolutions against XLA's evaluator.
#include "plugin/backends/common/hlo/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/common/hlo/parsed_module.h"
#include "plugin/compat/xla_compat.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal.h"
#include "xla/permutation_util.h"
#include "xla/shape_util.h"

namespace hpu::hlo {
namespace convolution_test {

using Dims = std::vector<int64_t>;
using Kind = Convolution::Kind;
using Reversal = Convolution::Reversal;

// A description of the spatial dimensions: input→output window/stride*dilation pad_low_pad_high.
std::string TextOf(const Convolution& c) {
  std::vector<std::string> dimensions;
  for (const Convolution::Dimension& d : c.dimensions) {
    dimensions.push_back(absl::StrCat(d.input, "->", d.output, " ", d.window, "/", d.stride, "*", d.dilation, " ",
                                      d.pad_low, "_", d.pad_high));
  }
  return absl::StrJoin(dimensions, ", ");
}

std::optional<Convolution> Described(const ParsedModule& module) { return DescribeConvolution(module.root()); }

// tf.nn.conv2d(x, w, 2, "SAME").
TEST(HloConvolutionTest, Forward) {
  const ParsedModule module(R"(ENTRY e {
    x = f32[2,7,8,3] parameter(0)
    w = f32[3,5,3,4] parameter(1)
    ROOT y = f32[2,4,4,4] convolution(x, w), window={size=3x5 stride=2x2 pad=1_1x1_2}, dim_labels=b01f_01io->b01f
  })");
  const std::optional<Convolution> c = Described(module);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->kind, Kind::kForward);
  EXPECT_TRUE(c->IsCanonical());
  EXPECT_EQ(TextOf(*c), "7->4 3/2*1 1_1, 8->4 5/2*1 1_2");
  EXPECT_EQ(c->batch, 2);
  EXPECT_EQ(c->input_features, 3);
  EXPECT_EQ(c->output_features, 4);
  EXPECT_EQ(c->groups, 1);
  EXPECT_EQ(c->lhs.value, module.Named("x"));
  EXPECT_EQ(c->rhs.value, module.Named("w"));
  EXPECT_EQ(c->reversal, Reversal::kNone);
}

// The gradients of tf.nn.conv2d(x, w, 2, "SAME").
constexpr char kInputGradient[] = R"(ENTRY e {
    dy = f32[2,4,4,4] parameter(0)
    w = f32[3,5,3,4] parameter(1)
    reverse = f32[3,5,3,4] reverse(w), dimensions={0,1}
    ROOT dx = f32[2,7,8,3] convolution(dy, reverse), window={size=3x5 pad=1_1x3_2 lhs_dilate=2x2},
      dim_labels=b01f_01oi->b01f
  })";

TEST(HloConvolutionTest, InputGradient) {
  const ParsedModule module(kInputGradient);
  const std::optional<Convolution> c = Described(module);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->kind, Kind::kInputGradient);
  EXPECT_TRUE(c->IsCanonical());
  EXPECT_EQ(TextOf(*c), "7->4 3/2*1 1_1, 8->4 5/2*1 1_2");
  EXPECT_EQ(c->input_features, 3);
  EXPECT_EQ(c->output_features, 4);
  EXPECT_EQ(c->lhs.value, module.Named("dy"));
  EXPECT_EQ(c->rhs.value, module.Named("w"));
  EXPECT_EQ(c->reversal, Reversal::kRemoved);
}

TEST(HloConvolutionTest, FilterGradient) {
  const ParsedModule module(R"(ENTRY e {
    x = f32[2,7,8,3] parameter(0)
    dy = f32[2,4,4,4] parameter(1)
    ROOT dw = f32[3,5,3,4] convolution(x, dy), window={size=4x4 pad=1_1x1_2 rhs_dilate=2x2},
      dim_labels=f01b_i01o->01bf
  })");
  const std::optional<Convolution> c = Described(module);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->kind, Kind::kFilterGradient);
  EXPECT_TRUE(c->IsCanonical());
  EXPECT_EQ(TextOf(*c), "7->4 3/2*1 1_1, 8->4 5/2*1 1_2");
  EXPECT_EQ(c->batch, 2);
  EXPECT_EQ(c->input_features, 3);
  EXPECT_EQ(c->output_features, 4);
  EXPECT_EQ(c->groups, 1);
}

// tf.nn.conv2d(x, w, 2, "SAME", data_format="NCHW") and its gradients.
TEST(HloConvolutionTest, FeaturesFirst) {
  const ParsedModule forward(R"(ENTRY e {
    x = f32[2,3,7,8] parameter(0)
    w = f32[3,5,3,4] parameter(1)
    ROOT y = f32[2,4,4,4] convolution(x, w), window={size=3x5 stride=2x2 pad=1_1x1_2}, dim_labels=bf01_01io->bf01
  })");
  const ParsedModule input_gradient(R"(ENTRY e {
    dy = f32[2,4,4,4] parameter(0)
    w = f32[3,5,3,4] parameter(1)
    reverse = f32[3,5,3,4] reverse(w), dimensions={0,1}
    ROOT dx = f32[2,3,7,8] convolution(dy, reverse), window={size=3x5 pad=1_1x3_2 lhs_dilate=2x2},
      dim_labels=bf01_01oi->bf01
  })");
  const ParsedModule filter_gradient(R"(ENTRY e {
    x = f32[2,3,7,8] parameter(0)
    dy = f32[2,4,4,4] parameter(1)
    ROOT dw = f32[3,5,3,4] convolution(x, dy), window={size=4x4 pad=1_1x1_2 rhs_dilate=2x2},
      dim_labels=fb01_io01->01bf
  })");
  const Dims features_last = {0, 2, 3, 1}, features_first = {0, 3, 1, 2}, same = {0, 1, 2, 3};
  for (const auto& [module, kind] :
       {std::pair(&forward, Kind::kForward), std::pair(&input_gradient, Kind::kInputGradient),
        std::pair(&filter_gradient, Kind::kFilterGradient)}) {
    const std::optional<Convolution> c = Described(*module);
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(c->kind, kind);
    EXPECT_FALSE(c->IsCanonical());
    EXPECT_EQ(TextOf(*c), "7->4 3/2*1 1_1, 8->4 5/2*1 1_2");
    EXPECT_EQ(c->lhs.permutation, features_last);
    EXPECT_EQ(c->rhs.permutation, kind == Kind::kFilterGradient ? features_last : same);
    EXPECT_EQ(c->result_permutation, kind == Kind::kFilterGradient ? same : features_first);
  }
}

// tf.nn.conv1d adds a dimension; tf.nn.conv3d has three.
TEST(HloConvolutionTest, OtherSpatialRanks) {
  const ParsedModule one(R"(ENTRY e {
    x = f32[2,9,3] parameter(0)
    w = f32[3,3,4] parameter(1)
    ROOT y = f32[2,5,4] convolution(x, w), window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f
  })");
  ASSERT_TRUE(Described(one).has_value());
  EXPECT_EQ(TextOf(*Described(one)), "9->5 3/2*1 1_1");
  const ParsedModule three(R"(ENTRY e {
    dy = f32[2,4,4,3,4] parameter(0)
    w = f32[3,3,2,3,4] parameter(1)
    reverse = f32[3,3,2,3,4] reverse(w), dimensions={0,1,2}
    ROOT dx = f32[2,7,8,6,3] convolution(dy, reverse), window={size=3x3x2 pad=1_1x2_1x1_1 lhs_dilate=2x2x2},
      dim_labels=b012f_012oi->b012f
  })");
  const std::optional<Convolution> c = Described(three);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->kind, Kind::kInputGradient);
  EXPECT_TRUE(c->IsCanonical());
  EXPECT_EQ(TextOf(*c), "7->4 3/2*1 1_1, 8->4 3/2*1 0_1, 6->3 2/2*1 0_0");
  const ParsedModule none(R"(ENTRY e {
    x = f32[2,3] parameter(0)
    w = f32[3,4] parameter(1)
    ROOT y = f32[2,4] convolution(x, w), dim_labels=bf_io->bf
  })");
  EXPECT_FALSE(Described(none).has_value());
}

// tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME") and its gradients.
TEST(HloConvolutionTest, Depthwise) {
  const ParsedModule forward(R"(ENTRY e {
    x = f32[2,7,8,3] parameter(0)
    w = f32[3,3,3,2] parameter(1)
    reshape = f32[3,3,1,6] reshape(w)
    ROOT y = f32[2,4,4,6] convolution(x, reshape), window={size=3x3 stride=2x2 pad=1_1x0_1},
      dim_labels=b01f_01io->b01f, feature_group_count=3
  })");
  const ParsedModule input_gradient(R"(ENTRY e {
    dy = f32[2,4,4,6] parameter(0)
    w = f32[3,3,3,2] parameter(1)
    reverse = f32[3,3,3,2] reverse(w), dimensions={0,1}
    ROOT dx = f32[2,7,8,3] convolution(dy, reverse), window={size=3x3 pad=1_1x2_1 lhs_dilate=2x2},
      dim_labels=b01f_01oi->b01f, feature_group_count=3
  })");
  const ParsedModule filter_gradient(R"(ENTRY e {
    x = f32[2,7,8,3] parameter(0)
    dy = f32[2,4,4,6] parameter(1)
    ROOT dw = f32[3,3,1,6] convolution(x, dy), window={size=4x4 pad=1_1x0_1 rhs_dilate=2x2},
      dim_labels=f01b_i01o->01bf, batch_group_count=3
  })");
  for (const auto& [module, kind] :
       {std::pair(&forward, Kind::kForward), std::pair(&input_gradient, Kind::kInputGradient),
        std::pair(&filter_gradient, Kind::kFilterGradient)}) {
    const std::optional<Convolution> c = Described(*module);
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(c->kind, kind);
    EXPECT_TRUE(c->IsCanonical());
    EXPECT_EQ(TextOf(*c), "7->4 3/2*1 1_1, 8->4 3/2*1 0_1");
    EXPECT_EQ(c->groups, 3);
    EXPECT_EQ(c->batch, 2);
    EXPECT_EQ(c->input_features, 3);
    EXPECT_EQ(c->output_features, 6);
    EXPECT_EQ(c->groups_in_input_features, kind == Kind::kInputGradient);
  }
}

// The input gradient of tf.nn.conv2d with three groups of two features.
constexpr char kGroupedInputGradient[] = R"(ENTRY e {
    dy = f32[2,4,4,12] parameter(0)
    w = f32[3,3,2,12] parameter(1)
    split = f32[3,3,2,3,4] reshape(w)
    transpose = f32[3,3,3,2,4] transpose(split), dimensions={0,1,3,2,4}
    grouped = f32[3,3,6,4] reshape(transpose)
    reverse = f32[3,3,6,4] reverse(grouped), dimensions={0,1}
    ROOT dx = f32[2,7,8,6] convolution(dy, reverse), window={size=3x3 pad=1_1x2_1 lhs_dilate=2x2},
      dim_labels=b01f_01oi->b01f, feature_group_count=3
  })";

TEST(HloConvolutionTest, FilterBeforeItsGroupsMoved) {
  const ParsedModule module(kGroupedInputGradient);
  const std::optional<Convolution> c = Described(module);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->kind, Kind::kInputGradient);
  EXPECT_EQ(c->groups, 3);
  EXPECT_FALSE(c->groups_in_input_features);
  EXPECT_EQ(c->rhs.value, module.Named("w"));
}

TEST(HloConvolutionTest, FilterWhoseGroupsMovedOtherwise) {
  std::string text = kGroupedInputGradient;
  text.replace(text.find("f32[3,3,2,3,4] reshape(w)"), 25, "f32[3,3,3,3,4] reshape(v)");
  text.replace(text.find("w = f32[3,3,2,12]"), 17, "v = f32[3,3,3,12]");
  text.replace(text.find("f32[3,3,3,2,4] transpose"), 24, "f32[3,3,3,3,4] transpose");
  text.replace(text.find("f32[3,3,6,4] reshape"), 20, "f32[3,3,9,4] reshape");
  text.replace(text.find("reverse = f32[3,3,6,4]"), 22, "reverse = f32[3,3,9,4]");
  text.replace(text.find("f32[2,7,8,6]"), 12, "f32[2,7,8,9]");
  const ParsedModule same(text);
  EXPECT_EQ(Described(same)->rhs.value, same.Named("v"));
  text.replace(text.find("dimensions={0,1,3,2,4}"), 22, "dimensions={0,1,2,3,4}");
  const ParsedModule other(text);
  EXPECT_EQ(Described(other)->rhs.value, other.Named("grouped"));
  EXPECT_TRUE(Described(other)->groups_in_input_features);
}

// Without a reversal, an undilated convolution is a forward one with a transposed filter.
TEST(HloConvolutionTest, SwappedFilterWithoutReversal) {
  const ParsedModule module(R"(ENTRY e {
    x = f32[2,7,8,4] parameter(0)
    w = f32[3,5,3,4] parameter(1)
    ROOT y = f32[2,5,4,3] convolution(x, w), window={size=3x5}, dim_labels=b01f_01oi->b01f
  })");
  const std::optional<Convolution> c = Described(module);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->kind, Kind::kForward);
  EXPECT_EQ(c->rhs.permutation, (Dims{0, 1, 3, 2}));
  EXPECT_EQ(c->output_features, 3);
}

// XLA's simplifier removes reversals of one element.
TEST(HloConvolutionTest, PointwiseInputGradientHasNoReversal) {
  const ParsedModule module(R"(ENTRY e {
    dy = f32[2,4,4,4] parameter(0)
    w = f32[1,1,3,4] parameter(1)
    ROOT dx = f32[2,7,7,3] convolution(dy, w), window={size=1x1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f
  })");
  const std::optional<Convolution> c = Described(module);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->kind, Kind::kInputGradient);
  EXPECT_EQ(c->reversal, Reversal::kNone);
  EXPECT_TRUE(c->IsCanonical());
  EXPECT_EQ(TextOf(*c), "7->4 1/2*1 0_0, 7->4 1/2*1 0_0");
}

TEST(HloConvolutionTest, DilatedInputWithoutReversalNeedsOne) {
  std::string text = kInputGradient;
  text.replace(text.find("reverse(w), dimensions={0,1}"), 28, "negate(w)");
  const ParsedModule negated(text);
  EXPECT_EQ(Described(negated)->reversal, Reversal::kNeeded);
  EXPECT_EQ(Described(negated)->rhs.value, negated.Named("reverse"));
  text.replace(text.find("negate(w)"), 9, "reverse(w), dimensions={0}");
  EXPECT_EQ(Described(ParsedModule(text))->reversal, Reversal::kNeeded);
  text.replace(text.find("dimensions={0}"), 14, "dimensions={0,1,2}");
  EXPECT_EQ(Described(ParsedModule(text))->reversal, Reversal::kNeeded);
}

TEST(HloConvolutionTest, OtherConvolutionsDoNotMatch) {
  const auto matches = [](const std::string& window, const std::string& shape, const std::string& more = "") {
    const ParsedModule module(absl::StrCat("ENTRY e { x = f32[2,8,8,4] parameter(0) w = f32[3,3,2,4] parameter(1) ",
                                           "ROOT y = f32[", shape, "] convolution(x, w), window={", window,
                                           "}, dim_labels=b01f_01io->b01f", more, " }"));
    return Described(module).has_value();
  };
  EXPECT_TRUE(matches("size=3x3", "2,6,6,4", ", feature_group_count=2"));
  EXPECT_FALSE(matches("size=3x3 rhs_reversal=1x1", "2,6,6,4", ", feature_group_count=2"));
  EXPECT_FALSE(matches("size=3x3 stride=2x2 lhs_dilate=2x2", "2,7,7,4", ", feature_group_count=2"));
  EXPECT_FALSE(matches("size=3x3", "0,6,6,4", ", feature_group_count=2"));
  const ParsedModule dilated_groups(R"(ENTRY e {
    x = f32[4,8,8,2] parameter(0)
    w = f32[3,3,2,4] parameter(1)
    ROOT y = f32[2,13,13,4] convolution(x, w), window={size=3x3 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f,
      batch_group_count=2
  })");
  EXPECT_FALSE(Described(dilated_groups).has_value());
  EXPECT_FALSE(DescribeConvolution(dilated_groups.Named("x")).has_value());
}

// An array in row-major order.
struct Array {
  Dims dims;
  std::vector<float> elements;

  explicit Array(Dims sizes) : dims(std::move(sizes)) {
    elements.resize(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
  }
  explicit Array(const xla::Literal& literal)
      : dims(literal.shape().dimensions().begin(), literal.shape().dimensions().end()),
        elements(literal.data<float>().begin(), literal.data<float>().end()) {}

  float& At(const Dims& index) {
    int64_t position = 0;
    for (size_t i = 0; i < dims.size(); ++i) position = position * dims[i] + index[i];
    return elements[position];
  }
};

// Calls `visit` with each index of an array of these sizes, in row-major order.
void ForEachIndex(const Dims& sizes, const std::function<void(const Dims&)>& visit) {
  Dims index(sizes.size(), 0);
  for (int64_t left = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()); left > 0; --left) {
    visit(index);
    for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
      if (++index[i] < sizes[i]) break;
      index[i] = 0;
    }
  }
}

// HLO's transpose: dimension i of the result is dimension permutation[i] of the array.
Array Transposed(Array array, const Dims& permutation) {
  Dims dims;
  for (const int64_t dimension : permutation) dims.push_back(array.dims[dimension]);
  Array result(dims);
  ForEachIndex(dims, [&](const Dims& index) {
    Dims from(index.size());
    for (size_t i = 0; i < index.size(); ++i) from[permutation[i]] = index[i];
    result.At(index) = array.At(from);
  });
  return result;
}

Dims Sizes(std::initializer_list<int64_t> before, const Convolution& c, int64_t Convolution::Dimension::*size,
           std::initializer_list<int64_t> after) {
  Dims sizes(before);
  for (const Convolution::Dimension& d : c.dimensions) sizes.push_back(d.*size);
  sizes.insert(sizes.end(), after);
  return sizes;
}

// Brings a filter into the description's canonical form: not reversed, with groups in the output features.
Array CanonicalFilter(const Convolution& c, Array filter) {
  const int64_t n = c.dimensions.size(), features = c.input_features / c.groups, outputs = c.output_features / c.groups;
  const Dims dims = Sizes({}, c, &Convolution::Dimension::window, {features, c.output_features});
  Array result(dims);
  ForEachIndex(dims, [&](const Dims& index) {
    Dims from = index;
    if (c.reversal == Reversal::kNeeded) {
      for (int64_t i = 0; i < n; ++i) from[i] = dims[i] - 1 - from[i];
    }
    if (c.groups_in_input_features) {
      from[n] = index[n + 1] / outputs * features + index[n];
      from[n + 1] = index[n + 1] % outputs;
    }
    result.At(index) = filter.At(from);
  });
  return result;
}

// Computes the result of the convolution from its description.
Array Computed(const Convolution& c, const Array& lhs, const Array& rhs) {
  const int64_t n = c.dimensions.size(), features = c.input_features / c.groups, outputs = c.output_features / c.groups;
  using Dimension = Convolution::Dimension;
  Array image(Sizes({c.batch}, c, &Dimension::input, {c.input_features}));
  Array filter(Sizes({}, c, &Dimension::window, {features, c.output_features}));
  Array result(Sizes({c.batch}, c, &Dimension::output, {c.output_features}));
  if (c.kind == Kind::kInputGradient) {
    result = Transposed(lhs, c.lhs.permutation);
  } else {
    image = Transposed(lhs, c.lhs.permutation);
  }
  if (c.kind == Kind::kFilterGradient) {
    result = Transposed(rhs, c.rhs.permutation);
  } else {
    filter = CanonicalFilter(c, Transposed(rhs, c.rhs.permutation));
  }
  ForEachIndex(result.dims, [&](const Dims& at) {
    ForEachIndex(filter.dims, [&](const Dims& tap) {
      if (tap[n + 1] != at[n + 1]) return;
      Dims pixel = at;
      pixel[n + 1] = at[n + 1] / outputs * features + tap[n];
      for (int64_t i = 0; i < n; ++i) {
        const Dimension& d = c.dimensions[i];
        pixel[i + 1] = at[i + 1] * d.stride + tap[i] * d.dilation - d.pad_low;
        if (pixel[i + 1] < 0 || pixel[i + 1] >= d.input) return;
      }
      switch (c.kind) {
        case Kind::kForward:
          result.At(at) += image.At(pixel) * filter.At(tap);
          break;
        case Kind::kInputGradient:
          image.At(pixel) += result.At(at) * filter.At(tap);
          break;
        case Kind::kFilterGradient:
          filter.At(tap) += image.At(pixel) * result.At(at);
          break;
      }
    });
  });
  return Transposed(c.kind == Kind::kForward         ? result
                    : c.kind == Kind::kInputGradient ? image
                                                     : filter,
                    c.result_permutation);
}

class RandomConvolution {
 public:
  explicit RandomConvolution(uint32_t seed) : random_(seed) {}

  int64_t Roll(int64_t low, int64_t high) { return low + static_cast<int64_t>(random_() % (high - low + 1)); }

  // A module whose root is the convolution; null if the sizes leave no result.
  std::unique_ptr<xla::HloModule> Make() {
    const int64_t n = Roll(1, 3);
    xla::ConvolutionDimensionNumbers numbers;
    Dims input = Order(n), kernel = Order(n), output = Order(n);
    const bool like_filter = Roll(0, 2) == 0;  // the order that tf2xla uses for gradients of filters
    if (like_filter) {
      for (int64_t i = 0; i < n + 2; ++i) output[i] = i < 2 ? n + i : i - 2;
    }
    numbers.set_input_batch_dimension(input[0]);
    numbers.set_input_feature_dimension(input[1]);
    numbers.set_kernel_input_feature_dimension(kernel[0]);
    numbers.set_kernel_output_feature_dimension(kernel[1]);
    numbers.set_output_batch_dimension(output[0]);
    numbers.set_output_feature_dimension(output[1]);
    const int64_t mode = Roll(0, 2);  // strides, dilated input, or batch groups
    const int64_t feature_groups = mode == 2 ? 1 : Roll(1, 3), batch_groups = mode == 2 ? Roll(2, 3) : 1;
    Dims input_sizes(n + 2), kernel_sizes(n + 2), strides, input_dilation, kernel_dilation;
    std::vector<std::pair<int64_t, int64_t>> padding;
    const int64_t features = Roll(1, 2);
    input_sizes[input[0]] = Roll(1, 2) * batch_groups;
    input_sizes[input[1]] = features * feature_groups;
    kernel_sizes[kernel[0]] = features;
    kernel_sizes[kernel[1]] = Roll(1, 2) * feature_groups * batch_groups;
    for (int64_t i = 0; i < n; ++i) {
      numbers.add_input_spatial_dimensions(input[i + 2]);
      numbers.add_kernel_spatial_dimensions(kernel[i + 2]);
      numbers.add_output_spatial_dimensions(output[i + 2]);
      input_sizes[input[i + 2]] = Roll(1, 4);
      kernel_sizes[kernel[i + 2]] = Roll(1, 3);
      strides.push_back(mode == 1 ? 1 : Roll(1, 2));
      input_dilation.push_back(mode == 1 ? Roll(1, 3) : 1);
      kernel_dilation.push_back(Roll(1, 2));
      const int64_t low = Roll(-1, 3), high = Roll(-1, 3), size = input_sizes[input[i + 2]];
      padding.emplace_back(low, std::max(high, -size - low));  // XLA checks that no more elements are cropped
    }
    xla::XlaBuilder builder("convolution");
    const xla::XlaOp lhs = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, input_sizes), "lhs");
    xla::XlaOp rhs = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(xla::F32, kernel_sizes), "rhs");
    if (Roll(0, 1) == 0) rhs = xla::Rev(rhs, Dims(kernel.begin() + 2, kernel.end()));
    xla::ConvGeneralDilated(lhs, rhs, strides, padding, input_dilation, kernel_dilation, numbers, feature_groups,
                            batch_groups);
    const auto computation = builder.Build();
    if (!computation.ok()) return nullptr;
    const auto config = xla::HloModule::CreateModuleConfigFromProto(computation->proto(), xla::DebugOptions());
    auto module = xla::HloModule::CreateFromProto(computation->proto(), *config);
    return module.ok() ? *std::move(module) : nullptr;
  }

  // Small integers, whose sums are exact.
  xla::Literal Numbers(const xla::Shape& shape) {
    xla::Literal literal(shape);
    for (float& element : literal.data<float>()) element = static_cast<float>(Roll(-3, 3));
    return literal;
  }

 private:
  // A random order of batch, features and spatial dimensions.
  Dims Order(int64_t n) {
    Dims order(n + 2);
    std::iota(order.begin(), order.end(), 0);
    if (Roll(0, 1) == 0) {
      std::shuffle(order.begin(), order.end(), random_);
    } else {
      order = {0, n + 1};
      for (int64_t i = 1; i <= n; ++i) order.push_back(i);
    }
    return order;
  }

  std::minstd_rand random_;
};

// The array of a description's operand: a parameter, or a value that one instruction computes from parameters.
Array ValueOf(const xla::HloInstruction* operand, const std::vector<const xla::Literal*>& arguments) {
  if (operand->opcode() == xla::HloOpcode::kParameter) return Array(*arguments[operand->parameter_number()]);
  absl::flat_hash_map<const xla::HloInstruction*, const xla::Literal*> values;
  for (const xla::HloInstruction* parameter : operand->operands()) {
    values[parameter] = arguments[parameter->parameter_number()];
  }
  return Array(compat::EvaluateWithSubstitutions(operand, values).value());
}

TEST(HloConvolutionTest, RandomConvolutionsComputeWhatTheDescriptionSays) {
  int compared[3] = {0, 0, 0};
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    RandomConvolution random(seed);
    const std::unique_ptr<xla::HloModule> module = random.Make();
    if (module == nullptr) continue;
    const xla::HloInstruction* const root = module->entry_computation()->root_instruction();
    const std::optional<Convolution> c = DescribeConvolution(root);
    if (xla::ShapeUtil::IsZeroElementArray(root->shape())) {
      EXPECT_FALSE(c.has_value());
      continue;
    }
    SCOPED_TRACE(absl::StrCat("seed ", seed, ": ", root->ToString()));
    ASSERT_TRUE(c.has_value());
    SCOPED_TRACE(TextOf(*c));
    std::vector<xla::Literal> arguments;
    for (const xla::HloInstruction* parameter : module->entry_computation()->parameter_instructions()) {
      arguments.push_back(random.Numbers(parameter->shape()));
    }
    const std::vector<const xla::Literal*> pointers = {&arguments[0], &arguments[1]};
    const auto expected = xla::HloEvaluator().Evaluate(*module, pointers);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const Array computed = Computed(*c, ValueOf(c->lhs.value, pointers), ValueOf(c->rhs.value, pointers));
    ASSERT_EQ(computed.dims, Array(*expected).dims);
    ASSERT_EQ(computed.elements, Array(*expected).elements);
    for (const Convolution::Dimension& d : c->dimensions) {
      const int64_t reach = (d.window - 1) * d.dilation + 1;
      EXPECT_EQ((d.input + d.pad_low + d.pad_high - reach) / d.stride + 1, d.output);
      EXPECT_GE(d.input + d.pad_low + d.pad_high, reach);
    }
    ++compared[static_cast<int>(c->kind)];
  }
  for (const int count : compared) EXPECT_GT(count, 30);
}

}  // namespace convolution_test
}  // namespace hpu::hlo
