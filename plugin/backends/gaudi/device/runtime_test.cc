#include "plugin/backends/gaudi/device/runtime.h"

#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

class GaudiRuntimeTest : public DoubleTest {};

TEST_P(GaudiRuntimeTest, ModulesAreThoseOfTheMachine) {
  Set("SYNAPSE_DOUBLE_DEVICES", "3");
  EXPECT_EQ(runtime().GetModules()->ids, (std::vector<int>{0, 1, 2}));
}

TEST_P(GaudiRuntimeTest, NoDeviceSaysWhatToCheck) {
  Set("SYNAPSE_DOUBLE_DEVICES", "0");
  ExpectError(runtime().GetModules().status(), absl::StatusCode::kUnavailable, "finds no device; check the driver");
  ExpectError(Acquire({}).status(), absl::StatusCode::kUnavailable, "no Gaudi");
}

TEST_P(GaudiRuntimeTest, CanBeStartedAgain) {
  for (int i = 0; i < 3; ++i) {
    const auto runtime = Runtime::Start(GetParam());
    ASSERT_TRUE(runtime.ok()) << runtime.status();
    EXPECT_EQ((*runtime)->GetModules()->ids.size(), 2u);
  }
}

TEST(GaudiRuntimeErrorTest, MissingLibrary) {
  const absl::Status status = Runtime::Start("/nowhere/libSynapse.so").status();
  ExpectError(status, absl::StatusCode::kFailedPrecondition, "cannot load SynapseAI from /nowhere/libSynapse.so");
  ExpectError(status, absl::StatusCode::kFailedPrecondition, "install SynapseAI, or set HPU_BACKEND");
}

HPU_GAUDI_SUITE(GaudiRuntimeTest);

}  // namespace
}  // namespace hpu::gaudi
