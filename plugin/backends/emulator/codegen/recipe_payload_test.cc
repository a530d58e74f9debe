#include "plugin/backends/emulator/codegen/recipe_payload.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "plugin/program/recipe_container.h"

namespace hpu::emulator {
namespace recipe_payload_test {

RecipeParts SomeParts() {
  RecipeParts parts;
  parts.table.arguments = {{hal::DataType::kFloat32, {2, 3}, 24}, {hal::DataType::kInt8, {}, 1}};
  parts.table.results = {{{hal::DataType::kFloat32, {6}, 24}, 0}, {{hal::DataType::kBool, {0}, 0}, -1}};
  parts.slots = {{BufferSlot::Source::kArgument, 0, 24},  {BufferSlot::Source::kArgument, 1, 1},
                 {BufferSlot::Source::kWorkspace, 64, 8}, {BufferSlot::Source::kResult, 1, 0},
                 {BufferSlot::Source::kNone, 0, 4},       {BufferSlot::Source::kResultTable, 0, 16}};
  parts.workspace_bytes = 72;
  parts.kernels = {{"convolution", {1, -2}}, {"none", {}}};
  FunctionParts& function = parts.functions.emplace_back();
  function.table.arguments = {{hal::DataType::kFloat32, {8}, 32}};
  function.table.results = {{{hal::DataType::kFloat32, {8}, 32}, 0}};
  function.slots = {{BufferSlot::Source::kArgument, 0, 32}, {BufferSlot::Source::kResultTable, 0, 8}};
  function.workspace_bytes = 16;
  function.object = "another";
  FunctionParts& row_function = parts.functions.emplace_back();
  row_function.table.arguments = {{hal::DataType::kFloat32, {kRowLoopElements}, 4 * kRowLoopElements},
                                  {hal::DataType::kFloat32, {}, 4},
                                  {hal::DataType::kInt8, {kRowLoopElements}, kRowLoopElements}};
  row_function.table.results = {{{hal::DataType::kFloat32, {kRowLoopElements}, 4 * kRowLoopElements}, 0}};
  row_function.slots = {{BufferSlot::Source::kArgument, 1, 4}, {BufferSlot::Source::kResultTable, 0, 8}};
  row_function.object = "a loop";
  using Operand = RowLoop::Operand;
  parts.row_loops = {{1, 600, 20, 2, {Operand::kWhole, Operand::kScalar, Operand::kRepeated}}};
  parts.profile.instructions = {{"fusion.1", "loop fusion", "relu", "Relu"}, {"dot", "dot"}};
  parts.profile.counters = 2;
  parts.buffers = {{hal::LaunchBuffer::Kind::kResult, "dot", "dense/MatMul", "MatMul", "f32[6]", 24, 3, 7}};
  parts.object = "not an object";
  return parts;
}

std::string Serialized() { return SerializeParts(SomeParts(), "target"); }

absl::StatusOr<RecipeParts> Parsed(const std::string& bytes) { return ParseParts("step", bytes, "target"); }

TEST(RecipePayloadTest, RoundTrips) {
  const RecipeParts parts = SomeParts();
  auto got = Parsed(SerializeParts(parts, "target"));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(SerializeParts(*got, "target"), SerializeParts(parts, "target"));
  EXPECT_EQ(SerializedSize(parts, "target"), SerializeParts(parts, "target").size());
  EXPECT_EQ(got->table.arguments[0].dims, parts.table.arguments[0].dims);
  EXPECT_EQ(got->table.arguments[0].bytes, 24);
  EXPECT_EQ(got->table.results[0].aliased_argument, 0);
  EXPECT_EQ(got->slots.size(), parts.slots.size());
  EXPECT_EQ(got->workspace_bytes, 72);
  EXPECT_TRUE(got->kernels == parts.kernels);
  ASSERT_EQ(got->profile.instructions.size(), 2);
  EXPECT_EQ(got->profile.instructions[0].op_type, "Relu");
  EXPECT_EQ(got->profile.counters, 2);
  ASSERT_EQ(got->buffers.size(), 1);
  EXPECT_EQ(got->buffers[0].op, "dense/MatMul");
  EXPECT_EQ(got->buffers[0].end, 7);
  EXPECT_EQ(got->object, parts.object);
  EXPECT_TRUE(got->row_loops == parts.row_loops);
  ASSERT_EQ(got->functions.size(), 2);
  EXPECT_EQ(got->functions[0].table.results[0].aliased_argument, 0);
  EXPECT_EQ(got->functions[0].slots.size(), 2);
  EXPECT_EQ(got->functions[0].object, "another");
  EXPECT_EQ(WorkspaceBytes(*got), 128 + 16);
}

TEST(RecipePayloadTest, EveryFlippedBitIsRefused) {
  const std::string bytes = Serialized();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] ^= 1 << bit;
      EXPECT_EQ(Parsed(damaged).status().code(), absl::StatusCode::kInvalidArgument) << "byte " << i << " bit " << bit;
    }
  }
}

// The payload's own checks must detect an invalid payload even if the digest is right.
TEST(RecipePayloadTest, EveryDamagedPayloadWithAValidDigestIsRefusedOrConsistent) {
  const std::string bytes = Serialized();
  RecipeContainer container = RecipeContainer::Parse("step", bytes, "emulator", "target").value();
  const std::string payload = container.payload;
  int refused = 0;
  const auto parse = [&] {
    const auto parts = Parsed(container.Serialize());
    if (parts.ok()) {
      EXPECT_EQ(WorkspaceBytes(*parts), container.workspace_bytes);
      EXPECT_EQ(parts->functions.size(), 2);
    } else {
      EXPECT_EQ(parts.status().code(), absl::StatusCode::kInvalidArgument);
      ++refused;
    }
  };
  for (size_t i = 0; i < payload.size(); ++i) {
    for (int flip : {0x01, 0x40, 0x80, 0xff}) {
      container.payload = payload;
      container.payload[i] ^= flip;
      parse();
    }
    container.payload = payload.substr(0, i);
    parse();
  }
  EXPECT_GT(refused, 0);
}

TEST(RecipePayloadTest, ContainersThatDoNotFitThePayloadAreRefused) {
  const std::string bytes = Serialized();
  const std::pair<const char*, std::function<void(RecipeContainer&)>> changes[] = {
      {"another workspace", [](RecipeContainer& container) { ++container.workspace_bytes; }},
      {"no binaries", [](RecipeContainer& container) { container.binaries.clear(); }},
      {"one binary too few", [](RecipeContainer& container) { container.binaries.pop_back(); }},
      {"one binary too many", [](RecipeContainer& container) { container.binaries.push_back("more"); }},
      {"no payload", [](RecipeContainer& container) { container.payload.clear(); }},
      {"payload of another type", [](RecipeContainer& container) { container.payload = "\xff\xff"; }},
      {"one argument too few", [](RecipeContainer& container) { container.table.arguments.pop_back(); }},
  };
  for (const auto& [what, change] : changes) {
    RecipeContainer container = RecipeContainer::Parse("step", bytes, "emulator", "target").value();
    change(container);
    const absl::Status status = Parsed(container.Serialize()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << what;
    EXPECT_TRUE(absl::StrContains(status.message(), "recipe 'step'")) << status;
  }
}

TEST(RecipePayloadTest, RefusesInconsistentTables) {
  const std::pair<const char*, std::function<void(RecipeParts&)>> changes[] = {
      {"alias beyond the arguments", [](RecipeParts& parts) { parts.table.results[0].aliased_argument = 2; }},
      {"alias of another size", [](RecipeParts& parts) { parts.table.results[0].aliased_argument = 1; }},
      {"no such alias", [](RecipeParts& parts) { parts.table.results[0].aliased_argument = -2; }},
      {"argument slot", [](RecipeParts& parts) { parts.slots[0].value = 2; }},
      {"argument slot's size", [](RecipeParts& parts) { parts.slots[0].bytes = 25; }},
      {"result slot", [](RecipeParts& parts) { parts.slots[3].value = 2; }},
      {"workspace slot beyond its end", [](RecipeParts& parts) { parts.slots[2].bytes = 9; }},
      {"workspace slot that wraps", [](RecipeParts& parts) { parts.slots[2].value = ~uint64_t{0} - 63; }},
      {"workspace slot unaligned", [](RecipeParts& parts) { parts.slots[2].value = 60; }},
      {"unknown source", [](RecipeParts& parts) { parts.slots[4].source = static_cast<BufferSlot::Source>(9); }},
      {"function's argument slot", [](RecipeParts& parts) { parts.functions[0].slots[0].value = 1; }},
      {"function's result table", [](RecipeParts& parts) { parts.functions[0].slots.pop_back(); }},
      {"function's alias", [](RecipeParts& parts) { parts.functions[0].table.results[0].aliased_argument = 1; }},
      {"function's workspace", [](RecipeParts& parts) { parts.functions[0].workspace_bytes = ~uint64_t{0}; }},
      {"row loop of no function", [](RecipeParts& parts) { parts.row_loops[0].function = 2; }},
      {"row loop of a function without rows", [](RecipeParts& parts) { parts.row_loops[0].function = 0; }},
      {"row loop without elements", [](RecipeParts& parts) { parts.row_loops[0].elements = 0; }},
      {"row loop without parts", [](RecipeParts& parts) { parts.row_loops[0].parts = 0; }},
      {"row loop without features", [](RecipeParts& parts) { parts.row_loops[0].features = 0; }},
      {"row loop of a long row", [](RecipeParts& parts) { parts.row_loops[0].features = kMaxRow - 1; }},
      {"row loop with an operand too few", [](RecipeParts& parts) { parts.row_loops[0].operands.pop_back(); }},
      {"row loop with an operand of an unknown class",
       [](RecipeParts& parts) { parts.row_loops[0].operands[1] = static_cast<RowLoop::Operand>(3); }},
      {"row loop with a whole scalar",
       [](RecipeParts& parts) { parts.row_loops[0].operands[1] = RowLoop::Operand::kWhole; }},
      {"row loop with a workspace", [](RecipeParts& parts) { parts.functions[1].workspace_bytes = 8; }},
      {"result table too small", [](RecipeParts& parts) { parts.slots[5].bytes = 8; }},
      {"two result tables", [](RecipeParts& parts) { parts.slots.push_back(parts.slots[5]); }},
      {"no result table", [](RecipeParts& parts) { parts.slots.pop_back(); }},
      {"unknown type", [](RecipeParts& parts) { parts.table.arguments[1].dtype = static_cast<hal::DataType>(77); }},
      {"unknown kind of buffer",
       [](RecipeParts& parts) { parts.buffers[0].kind = static_cast<hal::LaunchBuffer::Kind>(3); }},
      {"too many counters", [](RecipeParts& parts) { parts.profile.counters = 1 << 30; }},
      {"negative dimension", [](RecipeParts& parts) { parts.table.arguments[0].dims[0] = -2; }},
      {"overflowing dimensions", [](RecipeParts& parts) { parts.table.results[1].spec.dims = {1L << 40, 1L << 40}; }},
  };
  for (const auto& [what, change] : changes) {
    RecipeParts parts = SomeParts();
    change(parts);
    EXPECT_EQ(Parsed(SerializeParts(parts, "target")).status().code(), absl::StatusCode::kInvalidArgument) << what;
  }
}

}  // namespace recipe_payload_test
}  // namespace hpu::emulator
