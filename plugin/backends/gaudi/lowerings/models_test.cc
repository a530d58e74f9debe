// Whole train steps.
#include "plugin/backends/gaudi/lowerings/models/bilinear_upsampling_train_step.h"
#include "plugin/backends/gaudi/lowerings/models/cnn_train_step.h"
#include "plugin/backends/gaudi/lowerings/models/mobilenet_train_step.h"
#include "plugin/backends/gaudi/lowerings/models/resnet_train_step.h"
#include "plugin/backends/gaudi/lowerings/models/unet_train_step.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace models_test {

class ModelsTest : public ProgramTest {};

TEST_P(ModelsTest, Cnn) { ExpectSameAsEvaluator(kCnnTrainStep, 1e-3); }
TEST_P(ModelsTest, Resnet) { ExpectSameAsEvaluator(kResnetTrainStep, 1e-3); }
TEST_P(ModelsTest, Mobilenet) { ExpectSameAsEvaluator(kMobilenetTrainStep, 1e-3); }
TEST_P(ModelsTest, Unet) { ExpectSameAsEvaluator(kUnetTrainStep, 1e-3); }
TEST_P(ModelsTest, BilinearUpsampling) { ExpectSameAsEvaluator(kBilinearUpsamplingTrainStep, 1e-3); }

HPU_GAUDI_SUITE(ModelsTest);

}  // namespace models_test
}  // namespace hpu::gaudi
