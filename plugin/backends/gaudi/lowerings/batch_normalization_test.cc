#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace batch_normalization_test {

class BatchNormalizationTest : public ProgramTest {
 protected:
  static std::string Training(absl::string_view type, absl::string_view sizes, int features, int index) {
    return absl::Substitute(
        "HloModule m\nENTRY e { x = $0[$1] parameter(0)\n s = $0[$2] parameter(1)\n o = $0[$2] parameter(2)\n"
        "n = ($0[$1], $0[$2], $0[$2]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=$3\n"
        "y = $0[$1] get-tuple-element(n), index=0\n m = $0[$2] get-tuple-element(n), index=1\n"
        "v = $0[$2] get-tuple-element(n), index=2\n ROOT r = ($0[$1], $0[$2], $0[$2]) tuple(y, m, v) }",
        type, sizes, features, index);
  }
  // Variances are squares, so they are not negative.
  static std::string Inference(absl::string_view type, absl::string_view sizes, int features, int index) {
    return absl::Substitute(
        "HloModule m\nENTRY e { x = $0[$1] parameter(0)\n s = $0[$2] parameter(1)\n o = $0[$2] parameter(2)\n"
        "m = $0[$2] parameter(3)\n d = $0[$2] parameter(4)\n v = $0[$2] multiply(d, d)\n"
        "ROOT r = $0[$1] batch-norm-inference(x, s, o, m, v), epsilon=0.001, feature_index=$3 }",
        type, sizes, features, index);
  }
  static std::string Gradient(absl::string_view type, absl::string_view sizes, int features, int index) {
    return absl::Substitute(
        "HloModule m\nENTRY e { x = $0[$1] parameter(0)\n s = $0[$2] parameter(1)\n m = $0[$2] parameter(2)\n"
        "d = $0[$2] parameter(3)\n dy = $0[$1] parameter(4)\n half = $0[] constant(0.5)\n"
        "h = $0[$2] broadcast(half), dimensions={}\n q = $0[$2] multiply(d, d)\n v = $0[$2] add(q, h)\n"
        "n = ($0[$1], $0[$2], $0[$2]) batch-norm-grad(x, s, m, v, dy), epsilon=0.001, feature_index=$3\n"
        "dx = $0[$1] get-tuple-element(n), index=0\n ds = $0[$2] get-tuple-element(n), index=1\n"
        "do = $0[$2] get-tuple-element(n), index=2\n ROOT r = ($0[$1], $0[$2], $0[$2]) tuple(dx, ds, do) }",
        type, sizes, features, index);
  }
};

struct Image {
  const char* sizes;
  int features, index;
};

// Ranks 2 to 6, with the feature dimension last, second or first.
constexpr Image kImages[] = {{"8,3", 3, 1},     {"2,5,3", 3, 2},     {"2,7,8,3", 3, 3},   {"2,3,7,8", 3, 1},
                             {"3,7,8,2", 3, 0}, {"2,3,4,2,3", 3, 4}, {"2,3,4,2,3", 3, 1}, {"2,3,2,3,2,4", 4, 5}};

TEST_P(BatchNormalizationTest, Training) {
  for (const Image& image : kImages) {
    ExpectSameAsEvaluator(Training("f32", image.sizes, image.features, image.index));
  }
}

TEST_P(BatchNormalizationTest, Inference) {
  for (const Image& image : kImages) {
    ExpectSameAsEvaluator(Inference("f32", image.sizes, image.features, image.index), 1e-4);
  }
}

TEST_P(BatchNormalizationTest, Gradient) {
  for (const Image& image : kImages) {
    ExpectSameAsEvaluator(Gradient("f32", image.sizes, image.features, image.index), 1e-4);
  }
}

TEST_P(BatchNormalizationTest, FeaturesLastNeedNoTranspose) {
  for (const std::string& program :
       {Training("f32", "2,7,8,3", 3, 3), Inference("f32", "2,7,8,3", 3, 3), Gradient("f32", "2,7,8,3", 3, 3)}) {
    EXPECT_FALSE(absl::StrContains(PlanOf(program), "transpose(")) << PlanOf(program);
  }
}

// The moments of bfloat16 images are computed in float32.
TEST_P(BatchNormalizationTest, Bfloat16) {
  ExpectSameAsEvaluator(Training("bf16", "2,7,8,3", 3, 3), 0.03);
  ExpectSameAsEvaluator(Inference("bf16", "2,7,8,3", 3, 3), 0.03);
  ExpectSameAsEvaluator(Gradient("bf16", "2,7,8,3", 3, 3), 0.05);
  EXPECT_TRUE(absl::StrContains(PlanOf(Training("bf16", "2,7,8,3", 3, 3)), "f32{3}, "));
}

HPU_GAUDI_SUITE(BatchNormalizationTest);

}  // namespace batch_normalization_test
}  // namespace hpu::gaudi
