// Sorts and top-k.
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace sorts_test {

// Returns bits, so that a test distinguishes zeros and NaN. $0: type, $1: direction, $2: attributes of the comparison,
// $3: sizes, $4: dimension, $5: type of the bits.
constexpr char kSortOfKeys[] =
    "HloModule m\nf { a = $0[] parameter(0)\n b = $0[] parameter(1)\n"
    "ROOT r = pred[] compare(a, b), direction=$1$2 }\n"
    "ENTRY e { x = $0[$3] parameter(0)\n s = $0[$3] sort(x), dimensions={$4}, is_stable=true, to_apply=f\n"
    "ROOT r = ($5[$3]) tuple($5[$3] bitcast-convert(s)) }";

class SortTest : public ProgramTest {};

TEST_P(SortTest, Numbers) {
  for (const char* direction : {"LT", "GT"}) {
    for (const char* type : {"s32", "u32", "s8", "u8", "s16", "u16", "s64", "u64"}) {
      ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, type, direction, "", "4,30", 1, type), 0);
    }
    ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "f32", direction, "", "3,30,2", 1, "s32"), 0);
    ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "bf16", direction, "", "30,4", 0, "s16"), 0);
    ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "f32", direction, "", "1,4", 0, "s32"), 0);
  }
}

TEST_P(SortTest, LargeIntegersAreExact) {
  std::vector<xla::Literal> arguments;
  arguments.push_back(xla::LiteralUtil::CreateR1<int32_t>({(1 << 24) + 1, 1 << 24, std::numeric_limits<int32_t>::max(),
                                                           std::numeric_limits<int32_t>::max() - 1, -(1 << 25) - 1,
                                                           -(1 << 25), std::numeric_limits<int32_t>::min()}));
  ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "s32", "LT", "", "7", 0, "s32"), arguments, 0);
  arguments[0] = xla::LiteralUtil::CreateR1<int64_t>({(int64_t{1} << 53) + 1, int64_t{1} << 53, 1, int64_t{1} << 32,
                                                      std::numeric_limits<int64_t>::min(), -1,
                                                      std::numeric_limits<int64_t>::max()});
  ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "s64", "GT", "", "7", 0, "s64"), arguments, 0);
}

// Keys that need several passes.
TEST_P(SortTest, ManyElements) {
  std::mt19937_64 random(1);
  std::vector<int32_t> words(3000);
  std::vector<int64_t> numbers(3000);
  for (int32_t& word : words) word = static_cast<int32_t>(random());
  // Many have equal halves.
  for (int64_t& number : numbers) number = static_cast<int64_t>(random() & 0x8000'001f'0000'001f);
  for (const char* direction : {"LT", "GT"}) {
    std::vector<xla::Literal> arguments;
    arguments.push_back(xla::LiteralUtil::CreateR1<int32_t>(words));
    ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "s32", direction, "", "3000", 0, "s32"), arguments, 0);
    arguments[0] = xla::LiteralUtil::CreateR1<int64_t>(numbers);
    ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "s64", direction, "", "3000", 0, "s64"), arguments, 0);
  }
}

TEST_P(SortTest, FloatsInTotalOrder) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<xla::Literal> arguments;
  arguments.push_back(xla::LiteralUtil::CreateR1<float>(
      {0.0f, -0.0f, nan, -nan, infinity, -infinity, 1e-40f, -1e-40f, 1, -1, 0.0f, -0.0f}));
  for (const char* direction : {"LT", "GT"}) {
    ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "f32", direction, ", type=TOTALORDER", "12", 0, "s32"),
                          arguments, 0);
  }
  // Without the total order zeros are equal, so they keep their order.
  arguments[0] = xla::LiteralUtil::CreateR1<float>({0.0f, -0.0f, 2, -0.0f, 0.0f, -1});
  for (const char* direction : {"LT", "GT"}) {
    ExpectSameAsEvaluator(absl::Substitute(kSortOfKeys, "f32", direction, "", "6", 0, "s32"), arguments, 0);
  }
}

TEST_P(SortTest, PayloadsKeepTheirOrder) {
  for (const char* direction : {"LT", "GT"}) {
    // Many keys are equal.
    ExpectSameAsEvaluator(
        absl::Substitute("HloModule m\nf { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] parameter(2)\n"
                         "d = s32[] parameter(3)\n g = s64[] parameter(4)\n h = s64[] parameter(5)\n"
                         "ROOT r = pred[] compare(a, b), direction=$0 }\n"
                         "ENTRY e { x = s32[50,3] parameter(0)\n i = s32[50,3] iota(), iota_dimension=0\n"
                         "y = s64[50,3] parameter(1)\n s = (s32[50,3], s32[50,3], s64[50,3]) sort(x, i, y), "
                         "dimensions={0}, is_stable=true, to_apply=f\n p = s32[50,3] get-tuple-element(s), index=1\n"
                         "q = s64[50,3] get-tuple-element(s), index=2\n ROOT r = (s32[50,3], s64[50,3]) tuple(p, q) }",
                         direction),
        0);
  }
}

// tf.math.top_k
constexpr char kTopK[] =
    "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = s32[] parameter(2)\n"
    "d = s32[] parameter(3)\n t = pred[] constant(true)\n w = pred[] broadcast(t), dimensions={}\n"
    "g = pred[] compare(a, b), direction=GT, type=TOTALORDER\n ROOT r = pred[] select(w, g, w) }\n"
    "ENTRY e { x = f32[4,100] parameter(0)\n i = s32[4,100] iota(), iota_dimension=1\n"
    "s = (f32[4,100], s32[4,100]) sort(x, i), dimensions={1}, is_stable=true, to_apply=f\n"
    "v = f32[4,100] get-tuple-element(s), index=0\n p = s32[4,100] get-tuple-element(s), index=1\n"
    "k = f32[4,3] slice(v), slice={[0:4], [0:3]}\n q = s32[4,3] slice(p), slice={[0:4], [0:3]}\n"
    "ROOT r = (f32[4,3], s32[4,3]) tuple(k, q) }";

TEST_P(SortTest, TopK) {
  ExpectSameAsEvaluator(kTopK, 0);
  // The last pass returns only elements that the program reads.
  EXPECT_TRUE(absl::StrContains(PlanOf(kTopK), "f32{3,4}")) << PlanOf(kTopK);
}

// The evaluator does not support the instruction, so the test evaluates kTopK.
TEST_P(SortTest, TopKInstruction) {
  const std::unique_ptr<xla::HloModule> module = ParseProgram(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      "ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER }\n"
      "ENTRY e { x = f32[4,100] parameter(0)\n t = (f32[4,3], s32[4,3]) topk(x), k=3, to_apply=f\n"
      "v = f32[4,3] get-tuple-element(t), index=0\n p = s32[4,3] get-tuple-element(t), index=1\n"
      "ROOT r = (f32[4,3], s32[4,3]) tuple(v, p) }");
  const std::vector<xla::Literal> arguments = RandomArguments(*module);
  const auto got = Run(*module, arguments);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, Evaluate(*ParseProgram(kTopK), arguments));
}

// A comparator of two keys. The lowering compares all pairs of elements to compute their ranks.
TEST_P(SortTest, OtherComparators) {
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = f32[] parameter(2)\n"
      "d = f32[] parameter(3)\n g = s32[] parameter(4)\n h = s32[] parameter(5)\n"
      "k = pred[] compare(a, b), direction=LT\n e = pred[] compare(a, b), direction=EQ\n"
      "l = pred[] compare(c, d), direction=GT\n w = pred[] and(e, l)\n ROOT r = pred[] or(k, w) }\n"
      "ENTRY e { x = s32[40,3] parameter(0)\n y = f32[40,3] parameter(1)\n z = s32[40,3] parameter(2)\n"
      "s = (s32[40,3], f32[40,3], s32[40,3]) sort(x, y, z), dimensions={0}, is_stable=true, to_apply=f\n"
      "p = s32[40,3] get-tuple-element(s), index=0\n q = f32[40,3] get-tuple-element(s), index=1\n"
      "o = s32[40,3] get-tuple-element(s), index=2\n ROOT r = (s32[40,3], f32[40,3], s32[40,3]) tuple(p, q, o) }",
      0);
}

HPU_GAUDI_SUITE(SortTest);

}  // namespace sorts_test
}  // namespace hpu::gaudi
