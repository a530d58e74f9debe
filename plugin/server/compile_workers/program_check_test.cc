#include "plugin/server/compile_workers/program_check.h"

#include <gtest/gtest.h>

#include <string>

#include "plugin/program/determinism.h"
#include "xla/service/hlo.pb.h"
#include "xla/xla_data.pb.h"

namespace hpu::serve {
namespace {

using Module = xla::HloModuleProto;
using Instruction = xla::HloInstructionProto;

// A module around one instruction under test.
Module ModuleOf(const Instruction& instruction) {
  Module module;
  module.set_name("test");
  module.add_computations();
  auto* instructions = module.add_computations()->mutable_instructions();
  instructions->Add()->set_opcode("parameter");
  *instructions->Add() = instruction;
  return module;
}

Instruction Of(const std::string& opcode, const std::string& target = "") {
  Instruction instruction;
  instruction.set_opcode(opcode);
  instruction.set_custom_call_target(target);
  return instruction;
}

absl::Status Screen(const Instruction& instruction) {
  hal::Program program = {"test", ModuleOf(instruction).SerializeAsString()};
  return ScreenProgram(&program);
}

Module Screened(const Module& module) {
  hal::Program program = {"test", module.SerializeAsString()};
  const absl::Status status = ScreenProgram(&program);
  EXPECT_TRUE(status.ok()) << status;
  Module screened;
  EXPECT_TRUE(screened.ParseFromString(program.hlo));
  return screened;
}

Instruction Screened(const Instruction& instruction) {
  return Screened(ModuleOf(instruction)).computations(1).instructions(1);
}

TEST(ProgramCheckTest, AcceptsPlainOperationsAndReplacedCalls) {
  for (const char* opcode : {"add", "after-all", "sort", "rng-bit-generator"}) {
    EXPECT_TRUE(Screen(Of(opcode)).ok()) << opcode;
  }
  EXPECT_TRUE(Screen(Of("custom-call", "Qr")).ok());
  EXPECT_TRUE(Screen(Of("custom-call", "hpu_host_kernel")).ok()) << "a kernel that the server has";
}

TEST(ProgramCheckTest, RefusesFunctionsOfTheProcess) {
  for (const char* target : {"system", "memcpy", "__xla_cpu_runtime_ParallelForkJoin", "", "Qr2"}) {
    const absl::Status status = Screen(Of("custom-call", target));
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, status.code()) << target;
    EXPECT_NE(std::string::npos, std::string(status.message()).find("'" + std::string(target) + "'"));
  }
}

TEST(ProgramCheckTest, RefusesOperationsThatAreNotOnTheList) {
  for (const char* opcode : {"infeed", "outfeed", "send-done", "recv", "all-reduce", "collective-permute-start",
                             "async-start", "fusion", "bitcast", "copy-start", "add-dependency", "domain",
                             "partition-id", "replica-id", "rng-get-and-update-state", "", "no-such-operation"}) {
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, Screen(Of(opcode)).code()) << opcode;
  }
}

TEST(ProgramCheckTest, RefusesInvalidPrograms) {
  hal::Program program = {"test", "\xff\xff"};
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, ScreenProgram(&program).code());
  EXPECT_EQ("\xff\xff", program.hlo);
}

TEST(ProgramCheckTest, RemovesNotesOfPasses) {
  Instruction slice = Of("slice");
  slice.set_backend_config("{\"outer_dimension_partitions\":[\"-1\",\"-3\"]}");
  slice.mutable_sharding()->set_type(xla::OpSharding::MAXIMAL);
  EXPECT_EQ("", Screened(slice).backend_config());
  EXPECT_FALSE(Screened(slice).has_sharding());
  Instruction qr = Of("custom-call", "Qr");
  qr.set_backend_config("anything");
  EXPECT_EQ("", Screened(qr).backend_config());
}

TEST(ProgramCheckTest, KeepsTheNameOfAUserKernel) {
  Instruction call = Of("custom-call", "hpu_host_kernel");
  call.set_backend_config("relu_fwd_f32");
  EXPECT_EQ("relu_fwd_f32", Screened(call).backend_config());
}

TEST(ProgramCheckTest, KeepsOnlyBackendAttributes) {
  Instruction call = Of("call");
  auto& marks = *call.mutable_frontend_attributes()->mutable_map();
  marks["hpu_operation"] = "dilation maxima 1 1 0 1 1 0";
  marks["_xla_anything"] = "true";
  EXPECT_EQ(1, Screened(call).frontend_attributes().map().size());
  EXPECT_EQ("dilation maxima 1 1 0 1 1 0", Screened(call).frontend_attributes().map().at("hpu_operation"));
  call.set_opcode("add");
  EXPECT_FALSE(Screened(call).has_frontend_attributes());
}

TEST(ProgramCheckTest, SetsDefaultLayouts) {
  Instruction add = Of("add");
  xla::ShapeProto& shape = *add.mutable_shape();
  shape.set_element_type(xla::F32);
  for (const int size : {2, 3, 4}) shape.add_dimensions(size);
  for (const int dimension : {0, 1, 2}) shape.mutable_layout()->add_minor_to_major(dimension);
  shape.mutable_layout()->set_memory_space(7);
  shape.mutable_layout()->add_tiles()->add_dimensions(1000);
  const xla::LayoutProto layout = Screened(add).shape().layout();
  EXPECT_EQ((std::vector<int64_t>{2, 1, 0}),
            std::vector<int64_t>(layout.minor_to_major().begin(), layout.minor_to_major().end()));
  EXPECT_EQ(0, layout.memory_space());
  EXPECT_EQ(0, layout.tiles_size());
}

TEST(ProgramCheckTest, KeepsTheMarkOfDeterminism) {
  Module module = ModuleOf(Of("add"));
  (*module.mutable_frontend_attributes()->mutable_map())["anything"] = "true";
  EXPECT_FALSE(Screened(module).has_frontend_attributes());
  RequireDeterminism(&module);
  const Module screened = Screened(module);
  EXPECT_TRUE(RequiresDeterminism(screened));
  EXPECT_EQ(1, screened.frontend_attributes().map().size());
}

TEST(ProgramCheckTest, KeepsOnlyTheComputationOfAModule) {
  Module module = ModuleOf(Of("add"));
  module.set_entry_computation_id(3);
  module.mutable_input_output_alias()->add_entries()->set_parameter_number(1);
  (*module.mutable_schedule()->mutable_sequences())[3].add_instruction_ids(9);
  module.set_is_dynamic(true);
  const Module screened = Screened(module);
  EXPECT_EQ(3, screened.entry_computation_id());
  EXPECT_EQ(1, screened.input_output_alias().entries(0).parameter_number());
  EXPECT_FALSE(screened.has_schedule());
  EXPECT_FALSE(screened.is_dynamic());
}

}  // namespace
}  // namespace hpu::serve
