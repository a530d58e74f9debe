// Tests of CheckCustomCalls: user kernels, other custom calls, and the way of a program to a device.
#include "plugin/backends/pjrt/custom_calls.h"

#include <gtest/gtest.h>

#include <string>

#include "plugin/backends/pjrt/recipe.h"
#include "plugin/program/user_kernels/user_kernels.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/pjrt_client.h"
#include "xla/service/hlo.pb.h"

namespace hpu::pjrt {
namespace custom_calls_test {

using cts::ExpectError;

constexpr char kError[] =
    "compilation of step: the op TestKernel (model/kernel) calls the user kernel 'scale_fwd_f32' (custom call "
    "hpu_host_kernel)";

// A program f32[1] -> (f32[1]) with one custom call, in a computation beside the entry.
hal::Program WithCall(const std::string& target) {
  xla::HloModuleProto module;
  module.set_name("step");
  xla::HloComputationProto* body = module.add_computations();
  body->set_id(1);
  xla::HloInstructionProto* call = body->add_instructions();
  call->set_opcode("custom-call");
  call->set_custom_call_target(target);
  call->set_backend_config(UserKernelCallText("scale_fwd_f32", "parameters"));
  call->mutable_metadata()->set_op_type("TestKernel");
  call->mutable_metadata()->set_op_name("model/kernel");
  xla::HloComputationProto* entry = module.add_computations();
  entry->set_id(2);
  entry->set_root_id(4);
  module.set_entry_computation_id(2);
  xla::HloInstructionProto* parameter = entry->add_instructions();
  parameter->set_id(3);
  parameter->set_opcode("parameter");
  parameter->mutable_shape()->set_element_type(xla::F32);
  parameter->mutable_shape()->add_dimensions(1);
  parameter->mutable_shape()->add_is_dynamic_dimension(false);
  xla::HloInstructionProto* tuple = entry->add_instructions();
  tuple->set_id(4);
  tuple->set_opcode("tuple");
  tuple->add_operand_ids(3);
  tuple->mutable_shape()->set_element_type(xla::TUPLE);
  *tuple->mutable_shape()->add_tuple_shapes() = parameter->shape();
  *entry->mutable_program_shape()->add_parameters() = parameter->shape();
  *entry->mutable_program_shape()->mutable_result() = tuple->shape();
  *module.mutable_host_program_shape() = entry->program_shape();
  return {"step", module.SerializeAsString()};
}

TEST(CustomCallsTest, UserKernelsAreRefused) {
  ExpectError(CheckCustomCalls(WithCall(kUserKernelTarget)), absl::StatusCode::kUnimplemented, kError);
  ExpectError(CheckCustomCalls(WithCall(kUserKernelTarget)), absl::StatusCode::kUnimplemented,
              "set HPU_BACKEND=emulator");
}

TEST(CustomCallsTest, OtherCustomCallsArePassedOn) {
  EXPECT_OK(CheckCustomCalls(WithCall("Eigh")));
  EXPECT_OK(CheckCustomCalls({"step", "no program with hpu_host_kernel"}));
}

using CustomCallsOfClient = ClientFixture;

TEST_F(CustomCallsOfClient, UserKernelsDoNotReachThePlugin) {
  ExpectError(PjrtRecipe::Compile(*client_, "target", WithCall(kUserKernelTarget)).status(),
              absl::StatusCode::kUnimplemented, kError);
}

}  // namespace custom_calls_test
}  // namespace hpu::pjrt
