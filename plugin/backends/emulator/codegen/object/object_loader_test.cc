#include "plugin/backends/emulator/codegen/object/object_loader.h"

#include <gtest/gtest.h>

#include <random>

#include "absl/strings/match.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/codegen/object/runtime_symbols.h"
#include "plugin/testing/recipe_harness.h"

namespace hpu::emulator {
namespace object_loader_test {

// An object with constants and with calls into XLA's runtime and the mathematics library.
const std::string& Object() {
  static const auto* object = [] {
    xla::XlaBuilder builder("object");
    const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {64, 64});
    xla::XlaOp a = xla::Parameter(&builder, 0, shape, "a");
    xla::XlaOp constant = xla::ConstantLiteral(&builder, Numbers(xla::ShapeUtil::MakeShape(xla::F32, {64}), 1));
    xla::Tuple(&builder, {xla::Dot(a, a), xla::Tan(a) + xla::Pow(a, a) + xla::Broadcast(constant, {64})});
    return new std::string(CompileWithoutKernels(ProgramOf(builder.Build().value())).value().object);
  }();
  return *object;
}

TEST(ObjectLoaderTest, FindsTheEntryInsideTheMapping) {
  auto object = LoadedObject::Load({Object()}, kRecipeEntry, FindRuntimeSymbol);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_NE((*object)->entries()[0], nullptr);
  EXPECT_GT((*object)->size(), 0);
}

// All objects define the same function name.
TEST(ObjectLoaderTest, LoadsSeveralBesideEachOther) {
  auto one = LoadedObject::Load({Object()}, kRecipeEntry, FindRuntimeSymbol);
  auto three = LoadedObject::Load({Object(), Object(), Object()}, kRecipeEntry, FindRuntimeSymbol);
  ASSERT_TRUE(one.ok() && three.ok()) << three.status();
  const std::vector<void*>& entries = (*three)->entries();
  ASSERT_EQ(entries.size(), 3);
  EXPECT_NE(entries[0], entries[1]);
  EXPECT_NE(entries[1], entries[2]);
  EXPECT_LT((*three)->size(), 3 * (*one)->size());
  const std::string damaged = Object().substr(0, Object().size() / 2);
  EXPECT_FALSE(LoadedObject::Load({Object(), damaged}, kRecipeEntry, FindRuntimeSymbol).ok());
}

TEST(ObjectLoaderTest, NamesEverySymbolThatIsMissing) {
  auto object = LoadedObject::Load({Object()}, kRecipeEntry, [](const std::string&) -> void* { return nullptr; });
  EXPECT_EQ(object.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(object.status().message(), "__xla_cpu_runtime_EigenMatMulF32")) << object.status();
  EXPECT_TRUE(absl::StrContains(object.status().message(), "powf")) << object.status();
}

TEST(ObjectLoaderTest, RefusesAMissingEntry) {
  auto object = LoadedObject::Load({Object()}, "no_such_function", FindRuntimeSymbol);
  EXPECT_EQ(object.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ObjectLoaderTest, RefusesEveryShorterLength) {
  for (size_t size = 0; size < Object().size(); size += size < 256 ? 1 : 37) {
    EXPECT_FALSE(
        LoadedObject::Load({absl::string_view(Object()).substr(0, size)}, kRecipeEntry, FindRuntimeSymbol).ok())
        << size;
  }
}

// Damage must never crash the loader; the loaded code is not run.
TEST(ObjectLoaderTest, SurvivesFlippedBytes) {
  std::minstd_rand random(1);
  int refused = 0;
  for (size_t i = 0; i < Object().size(); ++i) {
    std::string damaged = Object();
    damaged[i] ^= static_cast<char>(1 + random() % 255);
    if (!LoadedObject::Load({damaged}, kRecipeEntry, FindRuntimeSymbol).ok()) ++refused;
  }
  EXPECT_GT(refused, 64);
}

// Sets eight bytes at a time to 0xff, 0x7f or 0, which makes sizes and offsets extreme.
TEST(ObjectLoaderTest, SurvivesExtremeFields) {
  for (char value : {'\xff', '\x7f', '\0'}) {
    for (size_t i = 0; i + 8 <= Object().size(); i += 4) {
      std::string damaged = Object();
      damaged.replace(i, 8, std::string(8, value));
      (void)LoadedObject::Load({damaged}, kRecipeEntry, FindRuntimeSymbol);
    }
  }
}

}  // namespace object_loader_test
}  // namespace hpu::emulator
