#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace convolutions_test {

class ConvolutionsTest : public ProgramTest {
 protected:
  static std::string Program(absl::string_view result, absl::string_view input, absl::string_view kernel,
                             absl::string_view attributes) {
    return absl::Substitute(
        "HloModule m\nENTRY e { x = $1 parameter(0)\n w = $2 parameter(1)\n ROOT r = $0 convolution(x, w), $3 }",
        result, input, kernel, attributes);
  }
  // A program that reverses the window of `kernel`, as gradients of images do.
  static std::string Reversed(absl::string_view result, absl::string_view input, absl::string_view kernel,
                              absl::string_view dimensions, absl::string_view attributes) {
    return absl::Substitute(
        "HloModule m\nENTRY e { x = $1 parameter(0)\n w = $2 parameter(1)\n"
        "v = $2 reverse(w), dimensions={$4}\n ROOT r = $0 convolution(x, v), $3 }",
        result, input, kernel, attributes, dimensions);
  }
  void ExpectNodes(const std::string& program, const std::vector<std::string>& present,
                   const std::vector<std::string>& absent = {}) {
    const std::string plan = PlanOf(program);
    for (const std::string& guid : present) EXPECT_TRUE(absl::StrContains(plan, absl::StrCat("= ", guid, "("))) << plan;
    for (const std::string& guid : absent) EXPECT_FALSE(absl::StrContains(plan, absl::StrCat("= ", guid, "("))) << plan;
  }
};

TEST_P(ConvolutionsTest, Forward) {
  const std::string program = Program("f32[2,4,4,4]", "f32[2,7,8,3]", "f32[3,3,3,4]",
                                      "window={size=3x3 stride=2x2 pad=1_1x0_1}, dim_labels=b01f_01io->b01f");
  ExpectSameAsEvaluator(program);
  ExpectNodes(program, {"spatial_convolution"}, {"transpose", "slice"});
}

TEST_P(ConvolutionsTest, GradientOfTheImage) {
  const std::string program = Reversed("f32[2,7,8,3]", "f32[2,4,4,4]", "f32[3,3,3,4]", "0,1",
                                       "window={size=3x3 pad=1_1x2_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f");
  ExpectSameAsEvaluator(program);
  ExpectNodes(program, {"dedx"}, {"transpose", "reverse_f32"});
}

TEST_P(ConvolutionsTest, GradientOfTheFilter) {
  const std::string program = Program("f32[3,3,3,4]", "f32[2,7,8,3]", "f32[2,4,4,4]",
                                      "window={size=4x4 pad=1_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf");
  ExpectSameAsEvaluator(program);
  ExpectNodes(program, {"dedw"}, {"transpose"});
}

TEST_P(ConvolutionsTest, Dilation) {
  ExpectSameAsEvaluator(Program("f32[2,7,8,4]", "f32[2,7,8,3]", "f32[3,3,3,4]",
                                "window={size=3x3 pad=2_2x2_2 rhs_dilate=2x2}, dim_labels=b01f_01io->b01f"));
  ExpectSameAsEvaluator(Reversed("f32[2,7,8,3]", "f32[2,7,8,4]", "f32[3,3,3,4]", "0,1",
                                 "window={size=3x3 pad=2_2x2_2 rhs_dilate=2x2}, dim_labels=b01f_01oi->b01f"));
  ExpectSameAsEvaluator(Program("f32[3,3,3,4]", "f32[2,7,8,3]", "f32[2,7,8,4]",
                                "window={size=7x8 stride=2x2 pad=2_2x2_2}, dim_labels=f01b_i01o->01bf"));
}

TEST_P(ConvolutionsTest, Groups) {
  ExpectSameAsEvaluator(Program("f32[2,4,4,6]", "f32[2,5,6,4]", "f32[2,3,2,6]",
                                "window={size=2x3}, dim_labels=b01f_01io->b01f, feature_group_count=2"));
  ExpectSameAsEvaluator(Reversed("f32[2,5,6,4]", "f32[2,4,4,6]", "f32[2,3,4,3]", "0,1",
                                 "window={size=2x3 pad=1_1x2_2}, dim_labels=b01f_01oi->b01f, feature_group_count=2"));
  ExpectSameAsEvaluator(Program("f32[2,3,2,6]", "f32[2,5,6,4]", "f32[2,4,4,6]",
                                "window={size=4x4}, dim_labels=f01b_i01o->01bf, batch_group_count=2"));
}

// Arranges the filter as tf2xla does for gradients with groups.
TEST_P(ConvolutionsTest, GroupsOfTheGradientOfTheImage) {
  const std::string program =
      "HloModule m\nENTRY e { dy = f32[2,4,4,6] parameter(0)\n w = f32[2,3,2,6] parameter(1)\n"
      "a = f32[2,3,2,2,3] reshape(w)\n b = f32[2,3,2,2,3] transpose(a), dimensions={0,1,3,2,4}\n"
      "c = f32[2,3,4,3] reshape(b)\n v = f32[2,3,4,3] reverse(c), dimensions={0,1}\n"
      "ROOT r = f32[2,5,6,4] convolution(dy, v), window={size=2x3 pad=1_1x2_2}, dim_labels=b01f_01oi->b01f, "
      "feature_group_count=2 }";
  ExpectSameAsEvaluator(program);
  ExpectNodes(program, {"dedx"}, {"transpose", "reverse_f32"});
}

TEST_P(ConvolutionsTest, Depthwise) {
  ExpectSameAsEvaluator(
      Program("f32[2,4,4,6]", "f32[2,7,8,3]", "f32[3,3,1,6]",
              "window={size=3x3 stride=2x2 pad=1_1x0_1}, dim_labels=b01f_01io->b01f, feature_group_count=3"));
  ExpectSameAsEvaluator(
      Reversed("f32[2,7,8,3]", "f32[2,4,4,6]", "f32[3,3,3,2]", "0,1",
               "window={size=3x3 pad=1_1x2_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f, feature_group_count=3"));
  ExpectSameAsEvaluator(
      Program("f32[3,3,1,6]", "f32[2,7,8,3]", "f32[2,4,4,6]",
              "window={size=4x4 pad=1_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf, batch_group_count=3"));
}

TEST_P(ConvolutionsTest, OneSpatialDimension) {
  ExpectSameAsEvaluator(
      Program("f32[2,5,5]", "f32[2,9,3]", "f32[4,3,5]", "window={size=4 stride=2 pad=1_2}, dim_labels=b0f_0io->b0f"));
  ExpectSameAsEvaluator(Reversed("f32[2,9,3]", "f32[2,5,5]", "f32[4,3,5]", "0",
                                 "window={size=4 pad=2_1 lhs_dilate=2}, dim_labels=b0f_0oi->b0f"));
  ExpectSameAsEvaluator(Program("f32[4,3,5]", "f32[2,9,3]", "f32[2,5,5]",
                                "window={size=5 pad=1_2 rhs_dilate=2}, dim_labels=f0b_i0o->0bf"));
}

TEST_P(ConvolutionsTest, ThreeSpatialDimensions) {
  const std::string forward =
      Program("f32[1,2,5,3,3]", "f32[1,4,5,6,2]", "f32[3,2,3,2,3]",
              "window={size=3x2x3 stride=2x1x2 pad=0_1x0_1x0_1}, dim_labels=b012f_012io->b012f");
  ExpectSameAsEvaluator(forward);
  ExpectNodes(forward, {"spatial_convolution3d"});
  const std::string image =
      Reversed("f32[1,4,5,6,2]", "f32[1,2,5,3,3]", "f32[3,2,3,2,3]", "0,1,2",
               "window={size=3x2x3 pad=2_1x1_0x2_1 lhs_dilate=2x1x2}, dim_labels=b012f_012oi->b012f");
  ExpectSameAsEvaluator(image);
  ExpectNodes(image, {"dedx3d"});
  const std::string filter =
      Program("f32[3,2,3,2,3]", "f32[1,4,5,6,2]", "f32[1,2,5,3,3]",
              "window={size=2x5x3 pad=0_1x0_1x0_1 rhs_dilate=2x1x2}, dim_labels=f012b_i012o->012bf");
  ExpectSameAsEvaluator(filter);
  ExpectNodes(filter, {"dedw3d"});
}

TEST_P(ConvolutionsTest, FeaturesFirst) {
  ExpectSameAsEvaluator(Program("f32[2,4,4,4]", "f32[2,3,7,8]", "f32[3,3,3,4]",
                                "window={size=3x3 stride=2x2 pad=1_1x0_1}, dim_labels=bf01_01io->bf01"));
  ExpectSameAsEvaluator(Reversed("f32[2,3,7,8]", "f32[2,4,4,4]", "f32[3,3,3,4]", "0,1",
                                 "window={size=3x3 pad=1_1x2_1 lhs_dilate=2x2}, dim_labels=bf01_01oi->bf01"));
  ExpectSameAsEvaluator(Program("f32[3,3,3,4]", "f32[2,3,7,8]", "f32[2,4,4,4]",
                                "window={size=4x4 pad=1_1x0_1 rhs_dilate=2x2}, dim_labels=fb01_io01->01bf"));
}

TEST_P(ConvolutionsTest, OtherOrders) {
  ExpectSameAsEvaluator(Program("f32[4,3,2,4]", "f32[7,3,8,2]", "f32[4,3,3,3]",
                                "window={size=3x3 stride=2x2 pad=1_1x0_0}, dim_labels=0f1b_o01i->01bf"));
}

// Negative padding crops the image.
TEST_P(ConvolutionsTest, NegativePadding) {
  ExpectSameAsEvaluator(Program("f32[2,3,7,4]", "f32[2,7,8,3]", "f32[3,3,3,4]",
                                "window={size=3x3 pad=-1_-1x2_-1}, dim_labels=b01f_01io->b01f"));
  ExpectSameAsEvaluator(Reversed("f32[2,9,5,3]", "f32[2,4,4,4]", "f32[3,3,3,4]", "0,1",
                                 "window={size=3x3 pad=3_1x0_0 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f"));
  ExpectSameAsEvaluator(Program("f32[3,3,3,4]", "f32[2,7,8,3]", "f32[2,4,4,4]",
                                "window={size=4x4 pad=-1_3x-2_0 rhs_dilate=2x1}, dim_labels=f01b_i01o->01bf"));
  // No window holds an element of the image.
  ExpectSameAsEvaluator(Program("f32[2,2,6,4]", "f32[2,7,8,3]", "f32[3,3,3,4]",
                                "window={size=3x3 pad=-8_5x0_0}, dim_labels=b01f_01io->b01f"));
}

TEST_P(ConvolutionsTest, ReversedAndDilated) {
  // The filter is not stored in the order in which the window reads it.
  ExpectSameAsEvaluator(Program("f32[2,7,8,3]", "f32[2,4,4,4]", "f32[3,3,4,3]",
                                "window={size=3x3 pad=1_1x2_1 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f"));
  ExpectSameAsEvaluator(Program("f32[2,5,6,4]", "f32[2,7,8,3]", "f32[3,3,3,4]",
                                "window={size=3x3 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f"));
  // A dilated image with a stride.
  ExpectSameAsEvaluator(Program("f32[2,5,4,4]", "f32[2,4,5,3]", "f32[3,3,3,4]",
                                "window={size=3x3 stride=2x3 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f"));
  // Groups of the batch with a dilated image.
  ExpectSameAsEvaluator(Program("f32[3,3,2,6]", "f32[2,3,3,4]", "f32[2,3,3,6]",
                                "window={size=3x3 lhs_dilate=2x2}, dim_labels=f01b_i01o->01bf, batch_group_count=2"));
}

TEST_P(ConvolutionsTest, WithoutWindow) {
  ExpectSameAsEvaluator(Program("f32[3,4]", "f32[3,5]", "f32[5,4]", "dim_labels=bf_io->bf"));
}

// Filters longer than 255, the maximum size of a node's filter.
TEST_P(ConvolutionsTest, LongWindows) {
  ExpectSameAsEvaluator(
      Program("f32[1,15,2]", "f32[1,300,2]", "f32[290,2,2]", "window={size=290 pad=3_1}, dim_labels=b0f_0io->b0f"));
  ExpectSameAsEvaluator(Reversed("f32[1,300,2]", "f32[1,11,2]", "f32[290,2,2]", "0",
                                 "window={size=290 pad=289_289}, dim_labels=b0f_0oi->b0f"));
  ExpectSameAsEvaluator(
      Program("f32[290,2,2]", "f32[1,300,2]", "f32[1,11,2]", "window={size=11}, dim_labels=f0b_i0o->0bf"));
  ExpectSameAsEvaluator(
      Program("bf16[1,11,2]", "bf16[1,300,2]", "bf16[290,2,2]", "window={size=290}, dim_labels=b0f_0io->b0f"), 0.05);
}

TEST_P(ConvolutionsTest, Bfloat16) {
  const std::string program = Program("bf16[2,4,4,4]", "bf16[2,7,8,3]", "bf16[3,3,3,4]",
                                      "window={size=3x3 stride=2x2 pad=1_1x0_1}, dim_labels=b01f_01io->b01f");
  ExpectSameAsEvaluator(program, 0.02);
  ExpectNodes(program, {"spatial_convolution"}, {"cast_bf16_to_f32"});
  // The filter's gradient may be float32.
  const std::string wide = Program("f32[3,3,3,4]", "bf16[2,7,8,3]", "bf16[2,4,4,4]",
                                   "window={size=4x4 pad=1_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf");
  ExpectSameAsEvaluator(wide, 1e-5);
  ExpectNodes(wide, {"dedw"}, {"cast_bf16_to_f32"});
}

TEST_P(ConvolutionsTest, EmptyArrays) {
  ExpectSameAsEvaluator(Program("f32[2,5,4]", "f32[2,5,0]", "f32[1,0,4]", "window={size=1}, dim_labels=b0f_0io->b0f"),
                        0);
}

TEST_P(ConvolutionsTest, Refused) {
  ExpectRefused(Program("s32[2,5,4]", "s32[2,5,3]", "s32[1,3,4]", "window={size=1}, dim_labels=b0f_0io->b0f"),
                "convolutions of integers");
  ExpectRefused(Program("f32[1,2,2,2,2,1]", "f32[1,3,3,3,3,2]", "f32[2,2,2,2,2,1]",
                        "window={size=2x2x2x2}, dim_labels=b0123f_0123io->b0123f"),
                "4 spatial dimensions");
}

HPU_GAUDI_SUITE(ConvolutionsTest);

}  // namespace convolutions_test
}  // namespace hpu::gaudi
