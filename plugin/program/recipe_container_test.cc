#include "plugin/program/recipe_container.h"

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hpu/recipe/v1/container.pb.h"
#include "plugin/compat/sha256.h"

namespace hpu {
namespace recipe_container_test {

constexpr size_t kDigestOffset = 24, kSealOffset = 56;

RecipeContainer SomeContainer() {
  RecipeContainer container;
  container.kind = "kind";
  container.target = "target";
  container.table.arguments = {{hal::DataType::kFloat32, {2, 3}, 24}, {hal::DataType::kInt8, {}, 1}};
  container.table.results = {{{hal::DataType::kFloat32, {6}, 24}, 0}, {{hal::DataType::kBool, {0}, 0}, -1}};
  container.workspace_bytes = 4096;
  container.payload = "payload";
  container.binaries = {"machine code", "", "more code"};
  return container;
}

absl::StatusOr<RecipeContainer> Parsed(absl::string_view bytes) {
  return RecipeContainer::Parse("step", bytes, "kind", "target");
}

// Replaces the digest with the correct digest of the other bytes.
std::string WithDigest(std::string bytes) {
  const Digest digest = Sha256(
      {absl::string_view(bytes).substr(0, kDigestOffset), absl::string_view(bytes).substr(kContainerHeaderBytes)});
  return bytes.replace(kDigestOffset, digest.size(), AsView(digest).data(), digest.size());
}

// A container with this description and no binaries.
std::string WithDescription(const std::string& description) {
  std::string bytes = SomeContainer().Serialize().substr(0, kContainerHeaderBytes) + description;
  for (int i = 0; i < 8; ++i) bytes[16 + i] = static_cast<char>(uint64_t{description.size()} >> (8 * i));
  return WithDigest(std::move(bytes));
}

void ExpectRefused(absl::string_view bytes, absl::string_view reason) {
  const absl::Status status = Parsed(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "recipe 'step'")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), reason)) << status << ", expected: " << reason;
}

TEST(RecipeContainerTest, RoundTrips) {
  const RecipeContainer container = SomeContainer();
  const std::string bytes = container.Serialize();
  EXPECT_EQ(bytes.size(), container.SerializedBytes());
  const absl::StatusOr<RecipeContainer> got = Parsed(bytes);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->kind, "kind");
  EXPECT_EQ(got->target, "target");
  ASSERT_EQ(got->table.arguments.size(), 2);
  EXPECT_EQ(got->table.arguments[0].dtype, hal::DataType::kFloat32);
  EXPECT_EQ(got->table.arguments[0].dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(got->table.arguments[0].bytes, 24);
  EXPECT_EQ(got->table.arguments[1].bytes, 1);
  ASSERT_EQ(got->table.results.size(), 2);
  EXPECT_EQ(got->table.results[0].aliased_argument, 0);
  EXPECT_EQ(got->table.results[1].aliased_argument, -1);
  EXPECT_EQ(got->table.results[1].spec.bytes, 0);
  EXPECT_EQ(got->workspace_bytes, 4096);
  EXPECT_EQ(got->payload, "payload");
  EXPECT_EQ(got->binaries, container.binaries);
  EXPECT_EQ(got->Serialize(), bytes);
}

TEST(RecipeContainerTest, BinariesAreNotCopied) {
  const std::string bytes = SomeContainer().Serialize();
  const RecipeContainer got = Parsed(bytes).value();
  EXPECT_EQ(got.binaries[2].end(), bytes.data() + bytes.size());
  EXPECT_EQ(got.binaries[0].end(), got.binaries[2].begin());
}

TEST(RecipeContainerTest, EmptyContentsRoundTrip) {
  RecipeContainer container;
  container.kind = "kind";
  container.target = "target";
  const absl::StatusOr<RecipeContainer> got = Parsed(container.Serialize());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(got->binaries.empty() && got->payload.empty() && got->table.results.empty());
}

TEST(RecipeContainerTest, EveryChangeOfEveryByteIsRefused) {
  const std::string good = SomeContainer().Serialize();
  for (size_t position = 0; position < good.size(); ++position) {
    for (int value = 1; value < 256; ++value) {
      std::string bytes = good;
      bytes[position] = static_cast<char>(bytes[position] ^ value);
      EXPECT_EQ(Parsed(bytes).status().code(), absl::StatusCode::kInvalidArgument)
          << "byte " << position << " changed by " << value;
      const bool is_seal = position >= kSealOffset && position < kContainerHeaderBytes;
      EXPECT_EQ(VerifyContainer(bytes).ok(), is_seal) << "byte " << position << " changed by " << value;
    }
  }
}

TEST(RecipeContainerTest, EveryTruncationAndExtensionIsRefused) {
  const std::string good = SomeContainer().Serialize();
  for (size_t size = 0; size < good.size(); ++size) {
    const absl::string_view bytes = absl::string_view(good).substr(0, size);
    ExpectRefused(bytes, size < kContainerHeaderBytes ? "not a serialised recipe" : "the checksum is wrong");
    EXPECT_FALSE(VerifyContainer(bytes).ok()) << size;
  }
  for (int value = 0; value < 256; ++value) ExpectRefused(good + static_cast<char>(value), "the checksum is wrong");
  ExpectRefused(good + good, "the checksum is wrong");
}

TEST(RecipeContainerTest, AnotherTargetKindAndVersionAreRefused) {
  RecipeContainer container = SomeContainer();
  container.target = "this card";
  const absl::Status status = Parsed(container.Serialize()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "Recipe: this card. This device: target")) << status;

  container = SomeContainer();
  container.kind = "emulator";
  ExpectRefused(container.Serialize(), "compiled by the backend emulator, but this device needs kind");

  std::string bytes = SomeContainer().Serialize();
  ++bytes[8];
  ExpectRefused(WithDigest(bytes), absl::StrCat("format ", kContainerVersion + 1, "; this build reads format"));
}

TEST(RecipeContainerTest, EarlierFormatsAreRefused) {
  for (const char* magic : {"HPURECP\n", "HPU PJRT recipe 1\n", "HPU null recipe\n", "HPURECIP"}) {
    ExpectRefused(absl::StrCat(magic, std::string(1000, 'x')), "not a serialised recipe (");
  }
}

TEST(RecipeContainerTest, InconsistentContainersWithAValidDigestAreRefused) {
  std::string bytes = SomeContainer().Serialize();
  for (int i = 0; i < 8; ++i) bytes[16 + i] = '\xff';
  ExpectRefused(WithDigest(bytes), "invalid description of 18446744073709551615 bytes");
  bytes = SomeContainer().Serialize();
  ++bytes[16];  // the description seems to contain a byte of the first binary
  EXPECT_FALSE(Parsed(WithDigest(bytes)).ok());
  ExpectRefused(WithDigest(SomeContainer().Serialize() + "x"), "1 bytes follow the last binary");
  const std::string whole = SomeContainer().Serialize();
  ExpectRefused(WithDigest(whole.substr(0, whole.size() - 1)), "binary 2 has 9 bytes in the description, but only 8");
  recipe::v1::Description description;
  description.set_kind("kind");
  description.set_target("target");
  description.add_binary_bytes(~uint64_t{0});
  description.add_binary_bytes(1);
  ExpectRefused(WithDescription(description.SerializeAsString()), "binary 0 has 18446744073709551615 bytes");
}

TEST(RecipeContainerTest, InvalidTablesAreRefused) {
  const std::pair<const char*, std::function<void(ProgramTable&)>> changes[] = {
      {"result 0, 24 bytes, aliases argument 2", [](ProgramTable& table) { table.results[0].aliased_argument = 2; }},
      {"result 0, 24 bytes, aliases argument 1", [](ProgramTable& table) { table.results[0].aliased_argument = 1; }},
      {"result 0, 24 bytes, aliases argument -2", [](ProgramTable& table) { table.results[0].aliased_argument = -2; }},
      {"argument 1 has the unknown data type 77",
       [](ProgramTable& table) { table.arguments[1].dtype = static_cast<hal::DataType>(77); }},
      {"argument 0 has a dimension of invalid size -2", [](ProgramTable& table) { table.arguments[0].dims[0] = -2; }},
      {"result 1 has a dimension of invalid size 1099511627776",
       [](ProgramTable& table) { table.results[1].spec.dims = {int64_t{1} << 40, int64_t{1} << 40}; }},
  };
  for (const auto& [reason, change] : changes) {
    RecipeContainer container = SomeContainer();
    change(container.table);
    ExpectRefused(container.Serialize(), reason);
  }
  recipe::v1::Description description;
  description.set_kind("kind");
  description.set_target("target");
  description.mutable_table()->add_arguments()->set_dtype(256 + 1);  // kFloat32 in the low byte
  ExpectRefused(WithDescription(description.SerializeAsString()), "unknown data type 257");
}

// Damage of the description must be detected or harmless even if the digest is right.
TEST(RecipeContainerTest, DamagedDescriptionsWithAValidDigestAreRefusedOrConsistent) {
  const std::string good = SomeContainer().Serialize();
  std::mt19937 random(1);
  int refused = 0;
  for (size_t position = kContainerHeaderBytes; position < good.size(); ++position) {
    for (int n = 0; n < 16; ++n) {
      std::string bytes = good;
      bytes[position] = static_cast<char>(random());
      bytes = WithDigest(bytes);
      const absl::StatusOr<RecipeContainer> got = Parsed(bytes);
      if (!got.ok()) {
        ++refused;
        continue;
      }
      for (const hal::ResultSpec& result : got->table.results) {
        if (result.aliased_argument < 0) continue;
        ASSERT_LT(result.aliased_argument, got->table.arguments.size());
        EXPECT_EQ(got->table.arguments[result.aliased_argument].bytes, result.spec.bytes);
      }
      if (!got->binaries.empty()) EXPECT_EQ(got->binaries.back().end(), bytes.data() + bytes.size());
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(RecipeContainerTest, SealsAreReadReplacedAndRemoved) {
  const std::string good = SomeContainer().Serialize();
  const SealedDigest fields = ReadSealedDigest("step", good).value();
  EXPECT_EQ(fields.seal, std::string(kSealBytes, '\0'));
  EXPECT_EQ(fields.digest, AsView(Sha256({good.substr(0, kDigestOffset), good.substr(kContainerHeaderBytes)})));

  std::string bytes = good;
  const std::string seal(kSealBytes, 's');
  SetSeal(&bytes, seal);
  EXPECT_EQ(ReadSealedDigest("step", bytes)->seal, seal);
  EXPECT_EQ(ReadSealedDigest("step", bytes)->digest, fields.digest);
  EXPECT_TRUE(VerifyContainer(bytes).ok());
  ExpectRefused(bytes, "seal of a device server");
  SetSeal(&bytes, "");
  EXPECT_EQ(bytes, good);

  for (size_t size = 0; size < kContainerHeaderBytes; ++size) {
    const absl::Status status = ReadSealedDigest("step", good.substr(0, size)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(status.message(), "recipe 'step'")) << status;
  }
}

}  // namespace recipe_container_test
}  // namespace hpu
