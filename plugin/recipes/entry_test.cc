#include "plugin/recipes/entry.h"

#include <string>

#include "gtest/gtest.h"
#include "plugin/program/recipe_container.h"
#include "plugin/recipes/listing.h"

namespace hpu::recipes {
namespace entry_test {

recipe::v1::Ingredients SomeIngredients() {
  recipe::v1::Ingredients ingredients;
  ingredients.set_program("program");
  ingredients.set_backend("emulator");
  ingredients.set_target("avx2");
  return ingredients;
}

std::string EntryOf(absl::string_view payload) {
  recipe::v1::Metadata metadata;
  metadata.set_cluster("habana_cluster_step_0");
  return SerializeEntry(Key::Of(SomeIngredients()), metadata, payload);
}

// The payload is shorter than a container's header, so that the entry's checksum covers the whole payload.
std::string SomeEntry() { return EntryOf("payload"); }

std::string SomeRecipe(absl::string_view code) {
  RecipeContainer container;
  container.kind = "emulator";
  container.binaries = {code};
  return container.Serialize();
}

TEST(EntryTest, RoundTrips) {
  const std::string bytes = SomeEntry();
  const absl::StatusOr<Entry> entry = ParseEntry(bytes);
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->payload, "payload");
  recipe::v1::Ingredients ingredients;
  ASSERT_TRUE(ingredients.ParseFromArray(entry->ingredients.data(), entry->ingredients.size()));
  EXPECT_EQ(ingredients.program(), "program");
  recipe::v1::Metadata metadata;
  ASSERT_TRUE(metadata.ParseFromArray(entry->metadata.data(), entry->metadata.size()));
  EXPECT_EQ(metadata.cluster(), "habana_cluster_step_0");
}

TEST(EntryTest, OversizedEntriesAreRefusedByTheHeader) {
  std::string header = SomeEntry().substr(0, kHeaderBytes);
  for (const uint64_t bytes : {kMaxEntryBytes + 1, uint64_t{1} << 43, ~uint64_t{0}}) {
    const uint64_t payload = bytes - kHeaderBytes - 32;
    header.replace(16, 16, 16, '\0');
    for (int i = 0; i < 8; ++i) header[32 + i] = static_cast<char>(payload >> (8 * i));
    EXPECT_FALSE(CheckHeader(header, bytes).ok()) << bytes;
  }
}

TEST(EntryTest, EveryBitFlipIsRefused) {
  const std::string good = SomeEntry();
  for (size_t position = 0; position < good.size(); ++position) {
    for (int value = 1; value < 256; ++value) {
      std::string bytes = good;
      bytes[position] = static_cast<char>(bytes[position] ^ value);
      EXPECT_FALSE(ParseEntry(bytes).ok()) << "byte " << position << " changed by " << value;
    }
  }
}

TEST(EntryTest, EveryTruncationAndExtensionIsRefused) {
  const std::string good = SomeEntry();
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ParseEntry(absl::string_view(good).substr(0, size)).ok()) << size << " bytes";
  }
  for (int value = 0; value < 256; ++value) {
    EXPECT_FALSE(ParseEntry(good + static_cast<char>(value)).ok());
  }
  EXPECT_FALSE(ParseEntry(good + good).ok());
}

TEST(EntryTest, TheChecksumCoversAllButThePayloadBehindItsHeader) {
  const std::string recipe = SomeRecipe("code");
  const std::string good = EntryOf(recipe);
  const std::string key = Key::Of(SomeIngredients()).name;
  ASSERT_TRUE(Inspect(key, good).ok());
  const size_t payload_end = good.size() - 32;
  const size_t covered_end = payload_end - recipe.size() + kContainerHeaderBytes;
  for (size_t position = 0; position < good.size(); ++position) {
    std::string bytes = good;
    bytes[position] = static_cast<char>(bytes[position] ^ 1);
    const bool is_covered = position < covered_end || position >= payload_end;
    EXPECT_EQ(ParseEntry(bytes).ok(), !is_covered) << "byte " << position;
    const absl::Status status = Inspect(key, bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << "byte " << position;
    if (!is_covered) EXPECT_EQ(status.message(), "the checksum is wrong");
  }
}

TEST(EntryTest, APayloadOfAnotherEntryIsRefused) {
  const std::string one = EntryOf(SomeRecipe("code")), two = EntryOf(SomeRecipe("edoc"));
  ASSERT_EQ(one.size(), two.size());
  const std::string key = Key::Of(SomeIngredients()).name;
  for (size_t position = kHeaderBytes; position + 32 < one.size(); ++position) {
    const std::string mixed = one.substr(0, position) + two.substr(position);
    EXPECT_EQ(Inspect(key, mixed).ok(), mixed == one || mixed == two) << position;
  }
}

TEST(EntryTest, PayloadsThatAreNoRecipesAreRefusedByInspect) {
  const absl::Status status = Inspect(Key::Of(SomeIngredients()).name, SomeEntry()).status();
  EXPECT_EQ(status.message(), "not a serialised recipe (7 bytes)");
}

TEST(EntryTest, TheEarlierFormatIsRefusedByItsVersion) {
  std::string bytes = SomeEntry();
  bytes[8] = 1;
  EXPECT_EQ(ParseEntry(bytes).status().message(), "unsupported format version 1, expected 2");
}

TEST(EntryTest, SizesThatOverflowAreRefused) {
  std::string bytes = SomeEntry();
  for (const size_t field : {16, 24, 32}) {
    std::string changed = bytes;
    for (size_t i = 0; i < 8; ++i) changed[field + i] = '\xff';
    EXPECT_FALSE(ParseEntry(changed).ok());
  }
}

TEST(KeyTest, EveryIngredientChangesTheKey) {
  const Key key = Key::Of(SomeIngredients());
  EXPECT_EQ(key.name, Key::Of(SomeIngredients()).name);
  const auto* descriptor = recipe::v1::Ingredients::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    recipe::v1::Ingredients other = SomeIngredients();
    other.GetReflection()->SetString(&other, descriptor->field(i), "else");
    EXPECT_NE(key.name, Key::Of(other).name) << descriptor->field(i)->name();
  }
}

}  // namespace entry_test
}  // namespace hpu::recipes
