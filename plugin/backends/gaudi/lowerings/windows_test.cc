#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal.h"

namespace hpu::gaudi {
namespace windows_test {

class WindowsTest : public ProgramTest {
 protected:
  // A program whose computation `f` applies `opcode` to two scalars of `type`.
  static std::string WithFunction(absl::string_view opcode, absl::string_view type, absl::string_view entry) {
    return absl::Substitute(
        "HloModule m\nf { a = $1[] parameter(0)\n b = $1[] parameter(1)\n ROOT r = $1[] $0(a, b) }\nENTRY e { $2 }",
        opcode, type, entry);
  }
  // A reduction of windows of the first argument.
  static std::string Reduction(absl::string_view opcode, absl::string_view type, absl::string_view initial,
                               absl::string_view sizes, absl::string_view result_sizes, absl::string_view window) {
    return WithFunction(opcode, type,
                        absl::Substitute("x = $0[$1] parameter(0)\n i = $0[] constant($2)\n"
                                         "ROOT r = $0[$3] reduce-window(x, i), window={$4}, to_apply=f",
                                         type, sizes, initial, result_sizes, window));
  }
  static std::string Scatter(absl::string_view select, absl::string_view type, absl::string_view sizes,
                             absl::string_view window_sizes, absl::string_view window,
                             absl::string_view initial = "0") {
    return absl::Substitute(
        "HloModule m\nf { a = $1[] parameter(0)\n b = $1[] parameter(1)\n ROOT r = $1[] add(a, b) }\n"
        "ge { a = $1[] parameter(0)\n b = $1[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GE }\n"
        "not_less { a = $1[] parameter(0)\n b = $1[] parameter(1)\n c = pred[] compare(a, b), direction=LT\n"
        "ROOT r = pred[] not(c) }\n"
        "gt { a = $1[] parameter(0)\n b = $1[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GT }\n"
        "le { a = $1[] parameter(0)\n b = $1[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=LE }\n"
        "lt { a = $1[] parameter(0)\n b = $1[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=LT }\n"
        "ENTRY e { x = $1[$2] parameter(0)\n dy = $1[$3] parameter(1)\n i = $1[] constant($5)\n"
        "ROOT r = $1[$2] select-and-scatter(x, dy, i), window={$4}, select=$0, scatter=f }",
        select, type, sizes, window_sizes, window, initial);
  }
  bool HasNode(const std::string& program, absl::string_view guid) {
    return absl::StrContains(PlanOf(program), absl::StrCat("= ", guid, "("));
  }
};

constexpr char kSame[] = "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x0_1x0_0";

TEST_P(WindowsTest, MaxPooling) {
  const std::string program = Reduction("maximum", "f32", "-inf", "2,7,8,3", "2,4,4,3", kSame);
  ExpectSameAsEvaluator(program, 0);
  EXPECT_TRUE(HasNode(program, "maxpool_2d_fwd_f32")) << PlanOf(program);
  ExpectSameAsEvaluator(Reduction("maximum", "bf16", "-inf", "2,7,8,3", "2,4,4,3", kSame), 0);
  // Features first, and rows in no window. Then one spatial dimension. Then dilated windows.
  ExpectSameAsEvaluator(Reduction("maximum", "f32", "-inf", "2,3,7,9", "2,3,3,4", "size=1x1x2x2 stride=1x1x2x2"), 0);
  ExpectSameAsEvaluator(Reduction("maximum", "f32", "-inf", "2,8,3", "2,4,3", "size=1x2x1 stride=1x2x1"), 0);
  ExpectSameAsEvaluator(Reduction("maximum", "f32", "-inf", "2,7,8,3", "2,5,6,3", "size=1x2x2x1 rhs_dilate=1x2x2x1"),
                        0);
}

TEST_P(WindowsTest, MaxPoolingOfThreeDimensions) {
  ExpectSameAsEvaluator(Reduction("maximum", "f32", "-inf", "1,3,4,5,2", "1,2,2,3,2",
                                  "size=1x2x2x2x1 stride=1x2x2x2x1 pad=0_0x0_1x0_0x0_1x0_0"),
                        0);
}

// With kernels that keep NaN and kernels that lose it.
TEST_P(WindowsTest, NanWinsExtrema) {
  for (const char* loses : {"0", "1"}) {
    Set("SYNAPSE_DOUBLE_LOSE_NAN", loses);
    ReleaseDevice();
    RestartRuntime();
    for (const auto& [opcode, initial] : {std::pair("maximum", "-inf"), std::pair("minimum", "inf")}) {
      const std::string program = Reduction(opcode, "f32", initial, "2,7,8,3", "2,4,4,3", kSame);
      std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(program));
      arguments[0].Set<float>({0, 3, 4, 1}, std::numeric_limits<float>::quiet_NaN());
      arguments[0].Set<float>({1, 0, 0, 0}, std::numeric_limits<float>::infinity());
      ExpectSameAsEvaluator(program, arguments, 0);
    }
  }
}

TEST_P(WindowsTest, SumPooling) {
  const std::string program = Reduction("add", "f32", "0", "2,7,8,3", "2,4,4,3", kSame);
  ExpectSameAsEvaluator(program);
  EXPECT_TRUE(HasNode(program, "avg_pool_2d_fwd_f32")) << PlanOf(program);
  ExpectSameAsEvaluator(Reduction("add", "f32", "0", "2,3,7,9", "2,3,3,4", "size=1x1x2x2 stride=1x1x2x2"));
  ExpectSameAsEvaluator(Reduction("add", "bf16", "0", "2,7,8,3", "2,4,4,3", kSame), 0.02);
}

// A sum of windows whose input is dilated, as in the gradient of tf.nn.avg_pool2d(x, 3, 2, "SAME").
TEST_P(WindowsTest, GradientOfSumPooling) {
  const std::string program = WithFunction("add", "f32",
                                           "x = f32[2,4,4,3] parameter(0)\n i = f32[] constant(0)\n"
                                           "p = f32[2,11,11,3] pad(x, i), padding=0_0_0x2_2_1x2_2_1x0_0_0\n"
                                           "s = f32[2,9,9,3] reduce-window(p, i), window={size=1x3x3x1}, to_apply=f\n"
                                           "ROOT r = f32[2,7,8,3] pad(s, i), padding=0_0x-1_-1x0_-1x0_0");
  ExpectSameAsEvaluator(program);
  EXPECT_TRUE(HasNode(program, "avg_pool_2d_bwd_f32")) << PlanOf(program);
  // Gaps between windows that do not meet.
  ExpectSameAsEvaluator(
      Reduction("add", "f32", "0", "2,4,4,3", "2,11,11,3", "size=1x2x2x1 pad=0_0x1_1x1_1x0_0 lhs_dilate=1x3x3x1"));
}

TEST_P(WindowsTest, OtherFunctionsAndTypes) {
  struct Case {
    const char *opcode, *type, *initial;
  };
  for (const Case& c : {Case{"multiply", "f32", "1"}, Case{"minimum", "f32", "inf"}, Case{"add", "s32", "0"},
                        Case{"maximum", "s32", "-2147483648"}, Case{"minimum", "s32", "2147483647"},
                        Case{"maximum", "u32", "0"}, Case{"minimum", "u32", "4294967295"}, Case{"add", "s8", "0"},
                        Case{"add", "u8", "0"}, Case{"and", "pred", "true"}, Case{"or", "pred", "false"},
                        Case{"and", "s32", "-1"}, Case{"or", "s32", "0"}, Case{"xor", "s32", "0"}}) {
    ExpectSameAsEvaluator(Reduction(c.opcode, c.type, c.initial, "2,7,8,3", "2,4,4,3", kSame));
  }
}

TEST_P(WindowsTest, InitialValues) {
  for (const auto& [opcode, initial] :
       {std::pair("add", "2.5"), std::pair("multiply", "3"), std::pair("maximum", "0.5"), std::pair("minimum", "nan"),
        std::pair("maximum", "nan")}) {
    ExpectSameAsEvaluator(Reduction(opcode, "f32", initial, "2,7,8,3", "2,4,4,3", kSame));
  }
  ExpectSameAsEvaluator(Reduction("maximum", "u32", "5", "2,7,8,3", "2,4,4,3", kSame));
}

TEST_P(WindowsTest, AllDimensionsAndLongWindows) {
  ExpectSameAsEvaluator(Reduction("add", "f32", "0", "3,4,5", "2,2,2", "size=2x3x3 stride=1x1x2"));
  ExpectSameAsEvaluator(Reduction("add", "f32", "0", "2,3,4,11", "2,3,4,11", "size=1x1x1x11 pad=0_0x0_0x0_0x5_5"));
  ExpectSameAsEvaluator(Reduction("add", "s32", "0", "60", "29", "size=23 stride=2 pad=10_9"));
  ExpectSameAsEvaluator(Reduction("maximum", "f32", "-inf", "90", "8", "size=37 stride=4 pad=5_7 rhs_dilate=2"), 0);
}

TEST_P(WindowsTest, WindowsInThePadding) {
  ExpectSameAsEvaluator(Reduction("maximum", "f32", "-inf", "1,2,2,1", "1,6,5,1", "size=1x2x2x1 pad=0_0x3_2x3_1x0_0"),
                        0);
  ExpectSameAsEvaluator(Reduction("add", "f32", "0", "1,2,2,1", "1,6,5,1", "size=1x2x2x1 pad=0_0x3_2x3_1x0_0"));
  ExpectSameAsEvaluator(Reduction("add", "f32", "0", "1,6,6,1", "1,3,4,1", "size=1x2x2x1 pad=0_0x-2_0x-1_0x0_0"));
}

TEST_P(WindowsTest, EmptyArrays) {
  ExpectSameAsEvaluator(Reduction("add", "f32", "3", "0,4", "2,4", "size=1x1 pad=1_1x0_0"), 0);
}

TEST_P(WindowsTest, GradientOfMaxPooling) {
  for (const char* select : {"ge", "not_less"}) {
    const std::string program = Scatter(select, "f32", "2,7,8,3", "2,4,4,3", kSame);
    ExpectSameAsEvaluator(program);
    EXPECT_TRUE(HasNode(program, "maxpool_2d_bwd_f32")) << PlanOf(program);
  }
  ExpectSameAsEvaluator(Scatter("ge", "bf16", "2,7,8,3", "2,4,4,3", kSame), 0.02);
  ExpectSameAsEvaluator(Scatter("ge", "bf16", "2,6,8,3", "2,3,4,3", "size=1x2x2x1 stride=1x2x2x1"), 0);
  ExpectSameAsEvaluator(Scatter("ge", "f32", "2,3,7,9", "2,3,3,4", "size=1x1x2x2 stride=1x1x2x2"), 0);
}

// The first of equal maxima in row-major order takes the gradient.
TEST_P(WindowsTest, TiesOfMaxPooling) {
  for (const char* sizes : {"2,7,8,3;2,4,4,3;size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x0_1x0_0",
                            "2,4,6,5,3;2,2,3,5,3;size=1x2x2x1x1 stride=1x2x2x1x1"}) {
    const std::vector<std::string> parts = absl::StrSplit(sizes, ';');
    const std::string program = Scatter("ge", "f32", parts[0], parts[1], parts[2]);
    std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(program));
    arguments[0].PopulateWithValue<float>(1);
    ExpectSameAsEvaluator(program, arguments);
  }
}

TEST_P(WindowsTest, GradientOfMaximaOfOtherWindows) {
  constexpr char kWindow[] = "size=1x2x2x2x1 stride=1x2x2x2x1 pad=0_0x0_1x0_0x0_1x0_0";
  for (const char* select : {"ge", "not_less"}) {
    const std::string program = Scatter(select, "f32", "1,3,4,5,2", "1,2,2,3,2", kWindow);
    ExpectSameAsEvaluator(program);
    // Windows with NaN choose the same element as in HLO.
    std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(program));
    for (const int64_t i : {0, 3}) arguments[0].Set<float>({0, 0, i, 1, 0}, std::numeric_limits<float>::quiet_NaN());
    arguments[0].Set<float>({0, 1, 1, 1, 0}, std::numeric_limits<float>::quiet_NaN());
    ExpectSameAsEvaluator(program, arguments);
  }
  ExpectSameAsEvaluator(Scatter("ge", "bf16", "1,3,4,5,2", "1,2,3,4,2", "size=1x2x2x2x1"), 0.02);
  // Windows over all dimensions. Then windows that lie entirely in the padding.
  ExpectSameAsEvaluator(Scatter("ge", "f32", "4,5", "3,3", "size=2x3"));
  ExpectSameAsEvaluator(Scatter("ge", "f32", "3,3", "4,4", "size=2x2 stride=2x2 pad=3_2x3_2"));
}

// Small integers, so that elements of a window are equal.
TEST_P(WindowsTest, OtherSelections) {
  for (const char* select : {"gt", "le", "lt"}) {
    const std::string program = Scatter(select, "f32", "2,7,8,3", "2,4,4,3", kSame);
    std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(program));
    auto image = arguments[0].data<float>();
    for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i * 7 % 3);
    arguments[0].Set<float>({0, 3, 3, 1}, std::numeric_limits<float>::quiet_NaN());
    ExpectSameAsEvaluator(program, arguments);
  }
  for (const char* type : {"s32", "u32", "s8"}) {
    ExpectSameAsEvaluator(Scatter("ge", type, "5,6", "3,3", "size=2x2 stride=2x2 pad=0_1x0_0"), 0);
  }
  ExpectSameAsEvaluator(Scatter("ge", "f32", "4,4", "2,2", "size=2x2 stride=2x2", "2.5"));
}

// A NaN counts only if it is the first element of its window.
TEST_P(WindowsTest, NanInGradientsOfMaxPooling) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const char* sizes :
       {"2,6,8,3;2,3,4,3;size=1x2x2x1 stride=1x2x2x1",
        "2,5,7,3;2,3,3,3;size=1x2x3x1 stride=1x2x3x1 pad=0_0x1_0x1_1x0_0", "2,9,3;2,4,3;size=1x2x1 stride=1x2x1"}) {
    const std::vector<std::string> parts = absl::StrSplit(sizes, ';');
    const std::string program = Scatter("not_less", "f32", parts[0], parts[1], parts[2]);
    EXPECT_TRUE(HasNode(program, "maxpool_2d_bwd_f32")) << PlanOf(program);
    std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(program));
    auto image = arguments[0].data<float>();
    for (size_t i = 0; i < image.size(); i += 5) image[i] = kNan;
    // In the first half of the image, channel 0 is NaN and the numbers of channel 1 are -infinity.
    for (size_t i = 0; i < image.size() / 2; i += 3) image[i] = i % 2 == 0 ? kNan : -kNan;
    for (size_t i = 1; i < image.size() / 2; i += 3) {
      if (image[i] == image[i]) image[i] = -std::numeric_limits<float>::infinity();
    }
    ExpectSameAsEvaluator(program, arguments);
  }
  // Overlapping windows whose first element is a number.
  const std::string overlapping = Scatter("not_less", "f32", "1,5,5,1", "1,2,2,1", "size=1x3x3x1 stride=1x2x2x1");
  std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(overlapping));
  for (const int64_t i : {1, 3, 4}) arguments[0].Set<float>({0, i, 1, 0}, kNan);
  ExpectSameAsEvaluator(overlapping, arguments);
}

// 1 - (1 - a)(1 - b), which no kernel computes.
TEST_P(WindowsTest, OtherComputations) {
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n s = f32[] add(a, b)\n"
      "p = f32[] multiply(a, b)\n ROOT r = f32[] subtract(s, p) }\n"
      "ENTRY e { x = f32[3,8] parameter(0)\n i = f32[] constant(0)\n"
      "ROOT r = f32[2,4] reduce-window(x, i), window={size=2x3 stride=1x2 pad=0_0x1_0}, to_apply=f }");
}

TEST_P(WindowsTest, Refused) {
  ExpectRefused(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] multiply(a, b) }\n"
      "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GE }\n"
      "ENTRY e { x = f32[4] parameter(0)\n dy = f32[2] parameter(1)\n i = f32[] constant(1)\n"
      "ROOT r = f32[4] select-and-scatter(x, dy, i), window={size=2 stride=2}, select=ge, scatter=f }",
      "Gaudi has no kernel for a select-and-scatter whose scatter computation is not add");
  ExpectRefused(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] parameter(2)\n"
      "d = f32[] parameter(3)\n p = f32[] add(a, c)\n q = f32[] add(b, d)\n ROOT r = (f32[], f32[]) tuple(p, q) }\n"
      "ENTRY e { x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n i = f32[] constant(0)\n"
      "ROOT r = (f32[7], f32[7]) reduce-window(x, y, i, i), window={size=2}, to_apply=f }",
      "a reduce-window of several arrays");
}

HPU_GAUDI_SUITE(WindowsTest);

}  // namespace windows_test
}  // namespace hpu::gaudi
