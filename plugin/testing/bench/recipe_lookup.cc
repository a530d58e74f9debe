// Benchmark of recipe lookup: by signature at every launch, by key in memory, on disk. `make bench` runs it.
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "plugin/compiler/recipe_cache.h"
#include "plugin/hal/backend.h"
#include "plugin/recipes/recipe_store.h"
#include "plugin/recipes/signature.h"
#include "plugin/tensorflow/kernels/launch/executable_table.h"
#include "tsl/platform/logging.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/builder/xla_computation.h"

namespace hpu {
namespace {

constexpr int kArguments = 400;

std::unique_ptr<hal::Device> Acquire(const char* backend) {
  hal::AcquireOptions options;
  options.memory_bytes = uint64_t{64} << 20;
  return (*hal::GetBackend(backend))->Acquire(options).value();
}

// Adds `values` constants to an array: about four bytes each in the recipe.
hal::Program Program(int64_t values) {
  xla::XlaBuilder builder("add_constants");
  std::vector<float> constants(values);
  // Irregular values, so that the compiler cannot replace the constant by a computation.
  for (int64_t i = 0; i < values; ++i) constants[i] = static_cast<float>(i * 2654435761 % 1000003);
  const xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {values}), "x");
  xla::Tuple(&builder, {xla::Add(x, xla::ConstantR1<float>(&builder, constants))});
  return hal::Program{builder.name(), builder.Build().value().proto().SerializeAsString()};
}

recipes::Signature SignatureOf(int64_t batch) {
  recipes::Signature signature;
  for (int i = 0; i < kArguments; ++i) signature.AddParameter(tensorflow::DT_FLOAT, {batch, 16, 16});
  return signature;
}

void BySignature(benchmark::State& state) {
  static auto* table = new ExecutableTable;
  const recipes::Signature signatures[] = {SignatureOf(1), SignatureOf(2)};
  int turn = state.thread_index();
  for (auto _ : state) benchmark::DoNotOptimize(table->FindOrCreate(signatures[turn++ & 1]));
}
BENCHMARK(BySignature)->Name("memory, by signature of 400 arguments")->ThreadRange(1, 4)->UseRealTime();

void ByKey(benchmark::State& state) {
  static const auto* key = [] {
    static hal::Device* device = Acquire("null").release();
    const hal::Program program = Program(16);
    CHECK(RecipeCache::Get().FindOrCompile(*device, program).ok());
    return new recipes::Key(KeyOf(*device, program).value());
  }();
  for (auto _ : state) benchmark::DoNotOptimize(RecipeCache::Get().Find(*key));
}
BENCHMARK(ByKey)->Name("memory, by key")->ThreadRange(1, 4)->UseRealTime();

void FromDisk(benchmark::State& state) {
  std::string directory = absl::StrCat(std::filesystem::temp_directory_path().string(), "/lookupXXXXXX");
  CHECK(mkdtemp(directory.data()) != nullptr);
  const std::unique_ptr<hal::Device> device = Acquire("emulator");
  const hal::Program program = Program(state.range(0) / 4);
  const recipes::Key key = KeyOf(*device, program).value();
  const std::string payload = device->Compile(program).value()->Serialize().value();
  recipes::StoreCounters counters;
  recipes::StoreSettings settings;
  settings.path = directory;
  recipes::RecipeStore store(settings, &counters, [](const std::string& message) { LOG(ERROR) << message; });
  store.Put(key, {}, payload, store.FindOrClaim(key, program.name).claim);
  for (auto _ : state) {
    const std::optional<std::string> found = store.FindOrClaim(key, program.name).payload;
    CHECK(found.has_value());
    benchmark::DoNotOptimize(device->LoadRecipe(program.name, *found).value());
  }
  state.counters["bytes"] = static_cast<double>(payload.size());
  std::filesystem::remove_all(directory);
}
BENCHMARK(FromDisk)
    ->Name("disk, verified and loaded, constants of")
    ->Arg(1 << 10)
    ->Arg(1 << 20)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hpu

BENCHMARK_MAIN();
