#include "plugin/serve/program_check.h"

#include <gtest/gtest.h>

#include <string>

#include "xla/service/hlo.pb.h"

namespace hpu::serve {
namespace {

std::string Program(const std::string& opcode, const std::string& target = "") {
  xla::HloModuleProto module;
  module.add_computations();
  auto* instructions = module.add_computations()->mutable_instructions();
  instructions->Add()->set_opcode("parameter");
  instructions->Add()->set_opcode(opcode);
  instructions->rbegin()->set_custom_call_target(target);
  return module.SerializeAsString();
}

TEST(ProgramCheckTest, TakesPlainOperationsAndCallsThatXlaReplaces) {
  for (const char* opcode : {"add", "after-all", "sort", "rng-bit-generator"}) {
    EXPECT_TRUE(CheckProgram({"test", Program(opcode)}).ok()) << opcode;
  }
  EXPECT_TRUE(CheckProgram({"test", Program("custom-call", "Qr")}).ok());
  EXPECT_TRUE(CheckProgram({"test", Program("custom-call", "hpu_host_kernel")}).ok()) << "a kernel that the server has";
}

TEST(ProgramCheckTest, RefusesFunctionsOfTheProcess) {
  for (const char* target : {"system", "memcpy", "__xla_cpu_runtime_ParallelForkJoin", "", "Qr2"}) {
    const absl::Status status = CheckProgram({"test", Program("custom-call", target)});
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, status.code()) << target;
    EXPECT_NE(std::string::npos, std::string(status.message()).find("'" + std::string(target) + "'"));
  }
}

TEST(ProgramCheckTest, RefusesCommunication) {
  for (const char* opcode : {"infeed", "outfeed", "send-done", "recv", "all-reduce", "collective-permute-start"}) {
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, CheckProgram({"test", Program(opcode)}).code()) << opcode;
  }
}

TEST(ProgramCheckTest, RefusesWhatIsNoProgram) {
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, CheckProgram({"test", "\xff\xff"}).code());
}

}  // namespace
}  // namespace hpu::serve
