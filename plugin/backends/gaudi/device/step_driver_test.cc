// Failures of SynapseAI while a recipe's loops run.
#include "plugin/backends/gaudi/device/step_driver.h"

#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace step_driver_test {

// Doubles x until it is at least 1000.
constexpr char kDoubling[] = R"(
HloModule m
condition { s = (f32[], s32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  n = f32[] constant(1000)
  ROOT r = pred[] compare(x, n), direction=LT }
body { s = (f32[], s32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  o = s32[] constant(1)
  y = f32[] add(x, x)
  j = s32[] add(i, o)
  ROOT r = (f32[], s32[]) tuple(y, j) }
ENTRY e { x = f32[] parameter(0)
  z = s32[] constant(0)
  s = (f32[], s32[]) tuple(x, z)
  l = (f32[], s32[]) while(s), condition=condition, body=body
  y = f32[] get-tuple-element(l), index=0
  i = s32[] get-tuple-element(l), index=1
  ROOT r = (f32[], s32[]) tuple(y, i) }
)";

class StepDriverTest : public ProgramTest {
 protected:
  absl::StatusOr<std::vector<xla::Literal>> Double() {
    return Run(*ParseProgram(kDoubling), ArgumentsOf(xla::LiteralUtil::CreateR0<float>(1)));
  }
  // The n-th command that SynapseAI runs fails with `status`. The first one is the copy of the argument; then launches
  // and copies of predicates alternate.
  void FailCommand(int n, int status) {
    Set("SYNAPSE_DOUBLE_FAIL_COMMAND", absl::StrCat(n));
    Set("SYNAPSE_DOUBLE_FAIL_STATUS", absl::StrCat(status));
  }
};

TEST_P(StepDriverTest, AFailedIterationIsTheErrorOfTheLaunch) {
  for (const int command : {2, 3, 6, 7}) {
    SCOPED_TRACE(command);
    FailCommand(command, 26);
    const absl::Status status = Double().status();
    ExpectError(status, absl::StatusCode::kInternal, "launch of program");
    ExpectError(status, absl::StatusCode::kInternal, "synFail (26)");
    // The device works again: its streams have been replaced.
    const auto again = Double();
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ((*again)[0].Get<float>({}), 1024);
    EXPECT_EQ((*again)[1].Get<int32_t>({}), 10);
    ReleaseDevice();
    RestartRuntime();
  }
}

TEST_P(StepDriverTest, ADeviceThatIsLostInALoopEndsIt) {
  FailCommand(6, 31);
  ExpectError(Double().status(), absl::StatusCode::kAborted, "lost");
  ReleaseDevice();
}

HPU_GAUDI_SUITE(StepDriverTest);

}  // namespace step_driver_test
}  // namespace hpu::gaudi
