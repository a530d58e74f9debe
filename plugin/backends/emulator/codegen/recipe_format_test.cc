#include "plugin/backends/emulator/codegen/recipe_format.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "tsl/lib/hash/crc32c.h"

namespace hpu::emulator {
namespace recipe_format_test {

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
  parts.profile.instructions = {{{"fusion.1", "loop fusion", "relu", "Relu"}, 1, {0}}, {{"dot", "dot"}, 0, {}}};
  parts.profile.counters = 2;
  parts.object = "not an object";
  return parts;
}

// Replaces the checksum in `bytes` by the right checksum of the contents.
std::string WithChecksum(std::string bytes) {
  const uint32_t checksum = tsl::crc32c::Value(bytes.data() + 16, bytes.size() - 16);
  bytes.replace(12, 4, reinterpret_cast<const char*>(&checksum), 4);
  return bytes;
}

TEST(RecipeFormatTest, RoundTrips) {
  const RecipeParts parts = SomeParts();
  auto got = ParseParts(SerializeParts(parts, "target"), "target");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(SerializeParts(*got, "target"), SerializeParts(parts, "target"));
  EXPECT_EQ(got->table.arguments[0].dims, parts.table.arguments[0].dims);
  EXPECT_EQ(got->table.arguments[0].bytes, 24);
  EXPECT_EQ(got->table.results[0].aliased_argument, 0);
  EXPECT_EQ(got->slots.size(), parts.slots.size());
  EXPECT_EQ(got->workspace_bytes, 72);
  EXPECT_TRUE(got->kernels == parts.kernels);
  ASSERT_EQ(got->profile.instructions.size(), 2);
  EXPECT_EQ(got->profile.instructions[0].names.op_type, "Relu");
  EXPECT_EQ(got->profile.instructions[0].inner, std::vector<uint32_t>{0});
  EXPECT_EQ(got->profile.counters, 2);
  EXPECT_EQ(got->object, parts.object);
  ASSERT_EQ(got->functions.size(), 1);
  EXPECT_EQ(got->functions[0].table.results[0].aliased_argument, 0);
  EXPECT_EQ(got->functions[0].slots.size(), 2);
  EXPECT_EQ(got->functions[0].object, "another");
  EXPECT_EQ(WorkspaceBytes(*got), 128 + 16);
}

TEST(RecipeFormatTest, RefusesAnotherTarget) {
  auto got = ParseParts(SerializeParts(SomeParts(), "this cpu"), "that cpu");
  EXPECT_EQ(got.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(got.status().message(), "this cpu")) << got.status();
}

TEST(RecipeFormatTest, RefusesEveryFlippedByte) {
  const std::string bytes = SerializeParts(SomeParts(), "target");
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 0x40;
    EXPECT_EQ(ParseParts(damaged, "target").status().code(), absl::StatusCode::kInvalidArgument) << "byte " << i;
  }
}

TEST(RecipeFormatTest, RefusesEveryOtherLength) {
  const std::string bytes = SerializeParts(SomeParts(), "target");
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(ParseParts(bytes.substr(0, i), "target").status().code(), absl::StatusCode::kInvalidArgument) << i;
  }
  EXPECT_FALSE(ParseParts(bytes + "x", "target").ok());
}

// The tables' own checks must detect damage even if the checksum is right.
TEST(RecipeFormatTest, SurvivesDamageWithAValidChecksum) {
  const std::string bytes = SerializeParts(SomeParts(), "target");
  int refused = 0;
  for (size_t i = 16; i < bytes.size(); ++i) {
    for (int flip : {0x01, 0x40, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] ^= flip;
      auto parts = ParseParts(WithChecksum(damaged), "target");
      if (parts.ok()) {
        EXPECT_EQ(SerializeParts(*parts, "target").size(), bytes.size());
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0);
  for (size_t i = 16; i < bytes.size(); ++i)
    EXPECT_FALSE(ParseParts(WithChecksum(bytes.substr(0, i)), "target").ok()) << i;
}

TEST(RecipeFormatTest, RefusesInconsistentTables) {
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
      {"result table too small", [](RecipeParts& parts) { parts.slots[5].bytes = 8; }},
      {"two result tables", [](RecipeParts& parts) { parts.slots.push_back(parts.slots[5]); }},
      {"no result table", [](RecipeParts& parts) { parts.slots.pop_back(); }},
      {"unknown type", [](RecipeParts& parts) { parts.table.arguments[1].dtype = static_cast<hal::DataType>(77); }},
      {"no such counter", [](RecipeParts& parts) { parts.profile.instructions[1].counter = 2; }},
      {"no such inner counter", [](RecipeParts& parts) { parts.profile.instructions[0].inner[0] = 2; }},
      {"too many counters", [](RecipeParts& parts) { parts.profile.counters = 1 << 30; }},
      {"negative dimension", [](RecipeParts& parts) { parts.table.arguments[0].dims[0] = -2; }},
      {"overflowing dimensions", [](RecipeParts& parts) { parts.table.results[1].spec.dims = {1L << 40, 1L << 40}; }},
  };
  for (const auto& [what, change] : changes) {
    RecipeParts parts = SomeParts();
    change(parts);
    EXPECT_EQ(ParseParts(SerializeParts(parts, "target"), "target").status().code(), absl::StatusCode::kInvalidArgument)
        << what;
  }
}

}  // namespace recipe_format_test
}  // namespace hpu::emulator
