#include "plugin/program/program_table.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "xla/service/hlo.pb.h"

namespace hpu {
namespace {

void SetArray(xla::ShapeProto* shape, xla::PrimitiveType type, std::vector<int64_t> dims) {
  shape->set_element_type(type);
  for (int64_t dim : dims) shape->add_dimensions(dim);
}

// (bfloat16[2,3], bool[]) -> (float32[0,4], bfloat16[6])
xla::HloModuleProto SomeModule() {
  xla::HloModuleProto module;
  xla::ProgramShapeProto* shape = module.mutable_host_program_shape();
  SetArray(shape->add_parameters(), xla::BF16, {2, 3});
  SetArray(shape->add_parameters(), xla::PRED, {});
  shape->mutable_result()->set_element_type(xla::TUPLE);
  SetArray(shape->mutable_result()->add_tuple_shapes(), xla::F32, {0, 4});
  SetArray(shape->mutable_result()->add_tuple_shapes(), xla::BF16, {6});
  return module;
}

void AddAlias(xla::HloModuleProto* module, int64_t result, int64_t argument) {
  auto* entry = module->mutable_input_output_alias()->add_entries();
  entry->add_output_shape_index(result);
  entry->set_parameter_number(argument);
}

TEST(ProgramTableTest, ReadsTypesShapesAndAliases) {
  xla::HloModuleProto module = SomeModule();
  AddAlias(&module, 1, 0);
  auto table = ParseProgramTable("some", module.SerializeAsString());
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->arguments.size(), 2);
  EXPECT_EQ(table->arguments[0].dtype, hal::DataType::kBFloat16);
  EXPECT_EQ(table->arguments[0].dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(table->arguments[0].bytes, 12);
  EXPECT_EQ(table->arguments[1].bytes, 1);
  ASSERT_EQ(table->results.size(), 2);
  EXPECT_EQ(table->results[0].spec.bytes, 0);
  EXPECT_EQ(table->results[0].aliased_argument, -1);
  EXPECT_EQ(table->results[1].aliased_argument, 0);
}

TEST(ProgramTableTest, RefusesInvalidPrograms) {
  auto table = ParseProgramTable("some", "no proto at all");
  EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(table.status().message(), "'some'")) << table.status();
}

TEST(ProgramTableTest, RefusesAliasesThatDoNotFit) {
  for (auto [result, argument] : {std::pair{2, 0}, {-1, 0}, {1, 2}, {1, -1}, {1, 1}, {0, 0}}) {
    xla::HloModuleProto module = SomeModule();
    AddAlias(&module, result, argument);
    EXPECT_EQ(MakeProgramTable(module).status().code(), absl::StatusCode::kInvalidArgument)
        << result << " " << argument;
  }
}

TEST(ProgramTableTest, RefusesUnsupportedShapes) {
  xla::HloModuleProto token = SomeModule();
  token.mutable_host_program_shape()->mutable_parameters(0)->set_element_type(xla::TOKEN);
  EXPECT_EQ(MakeProgramTable(token).status().code(), absl::StatusCode::kUnimplemented);

  xla::HloModuleProto dynamic = SomeModule();
  dynamic.mutable_host_program_shape()->mutable_parameters(0)->add_is_dynamic_dimension(true);
  EXPECT_EQ(MakeProgramTable(dynamic).status().code(), absl::StatusCode::kUnimplemented);

  xla::HloModuleProto nested = SomeModule();
  nested.mutable_host_program_shape()->mutable_parameters(0)->set_element_type(xla::TUPLE);
  EXPECT_EQ(MakeProgramTable(nested).status().code(), absl::StatusCode::kInvalidArgument);

  xla::HloModuleProto array = SomeModule();
  array.mutable_host_program_shape()->mutable_result()->set_element_type(xla::F32);
  EXPECT_EQ(MakeProgramTable(array).status().code(), absl::StatusCode::kInvalidArgument);

  for (std::vector<int64_t> dims : {std::vector<int64_t>{-3}, {int64_t{1} << 40, int64_t{1} << 40}}) {
    xla::HloModuleProto module = SomeModule();
    SetArray(module.mutable_host_program_shape()->mutable_parameters(1), xla::F32, dims);
    EXPECT_EQ(MakeProgramTable(module).status().code(), absl::StatusCode::kInvalidArgument) << dims[0];
  }
}

}  // namespace
}  // namespace hpu
