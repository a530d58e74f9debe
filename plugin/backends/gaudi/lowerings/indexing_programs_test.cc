// Programs of TensorFlow that gather, scatter and sort.
#include <algorithm>
#include <cmath>

#include "plugin/backends/gaudi/lowerings/models/boolean_mask.h"
#include "plugin/backends/gaudi/lowerings/models/embedding_gradient.h"
#include "plugin/backends/gaudi/lowerings/models/embedding_train_step.h"
#include "plugin/backends/gaudi/lowerings/models/segment_maximum.h"
#include "plugin/backends/gaudi/lowerings/models/sparse_cross_entropy.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"
#include "xla/service/dynamic_padder.h"

namespace hpu::gaudi {
namespace indexing_programs_test {

class IndexingProgramsTest : public ProgramTest {};

// The program sorts rows, numbers distinct rows in a loop, and sums the gradients of equal rows.
TEST_P(IndexingProgramsTest, EmbeddingWithAdam) {
  std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(kEmbeddingTrainStep));
  arguments[0] = xla::LiteralUtil::CreateR2<int32_t>({{3, 10, 3}, {0, 3, 10}});
  // Second moments are squares, and steps count from 0.
  for (size_t i : {4, 5}) {
    for (float& value : arguments[i].data<float>()) value = std::abs(value);
  }
  arguments[2] = xla::LiteralUtil::CreateR0<int64_t>(7);
  const std::unique_ptr<xla::HloModule> module = ParseProgram(kEmbeddingTrainStep);
  const auto got = Run(*module, arguments);
  ASSERT_TRUE(got.ok()) << got.status();
  // The evaluator does not reshape dynamic arrays.
  ASSERT_TRUE(xla::DynamicPadder().Run(module.get()).ok());
  const std::vector<xla::Literal> want = Evaluate(*module, arguments);
  ASSERT_EQ(got->size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ExpectNear((*got)[i], want[i], 1e-5);
}

TEST_P(IndexingProgramsTest, Gradients) {
  ExpectSameAsEvaluator(kEmbeddingGradient);
  ExpectSameAsEvaluator(kSegmentMaximum);
  ExpectSameAsEvaluator(kSparseCrossEntropy);
}

// The number of elements is dynamic.
TEST_P(IndexingProgramsTest, BooleanMask) {
  const std::unique_ptr<xla::HloModule> module = ParseProgram(kBooleanMask);
  for (int seed = 0; seed < 3; ++seed) {
    const std::vector<xla::Literal> arguments = RandomArguments(*module, seed);
    const auto results = Run(*module, arguments);
    ASSERT_TRUE(results.ok()) << results.status();
    float sum = 0;
    for (const float value : arguments[0].data<float>()) sum += std::max(value, 0.0f);
    EXPECT_NEAR(results->front().data<float>()[0], sum, 1e-4);
  }
}

HPU_GAUDI_SUITE(IndexingProgramsTest);

}  // namespace indexing_programs_test
}  // namespace hpu::gaudi
