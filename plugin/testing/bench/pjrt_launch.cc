// Benchmark of launches on a PJRT plugin's device: host time of hal::Stream::Launch and of the plugin's Execute. Both
// launch the same program, which updates all arguments in place. `make bench` runs it. HPU_BACKEND selects the plugin.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "plugin/backends/pjrt/helper_programs.h"
#include "plugin/hal/backend.h"
#include "plugin/testing/bench/pjrt_plugin.h"
#include "tsl/platform/logging.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/builder/xla_computation.h"

namespace hpu::pjrt {
namespace {

constexpr int kFloats = 8;
// Launches in a row, like the steps of a training loop. The benchmarks' names contain the number.
constexpr int kLaunches = 32;

// Adds 1 to each of `count` arrays, in place.
hal::Program AddOne(int count) {
  xla::XlaBuilder builder("add_one");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {kFloats});
  std::vector<xla::XlaOp> results;
  for (int i = 0; i < count; ++i) {
    results.push_back(xla::Add(xla::Parameter(&builder, i, shape, "x"), xla::ConstantR0<float>(&builder, 1)));
    builder.SetUpAlias({i}, i, {}, xla::HloInputOutputAliasConfig::AliasKind::kMayAlias);
  }
  xla::Tuple(&builder, results);
  return hal::Program{builder.name(), builder.Build().value().proto().SerializeAsString()};
}

double SecondsOf(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The program with `count` arguments on the plugin's client. A launch reads the results of the launch before it.
struct PluginProgram {
  explicit PluginProgram(int count) : program(AddOne(count)), arguments(count), results(count) {
    const std::vector<float> zeros(kFloats);
    for (int i = 0; i < count; ++i) {
      owned.push_back(program.client->ToDevice(zeros.data(), kFloats * 4, nullptr).value());
    }
  }
  void SetArguments() {
    for (size_t i = 0; i < owned.size(); ++i) arguments[i] = owned[i].get();
  }
  absl::StatusOr<Event> Launch() {
    return Execute(*program.executable, program.plugin, arguments, {}, absl::MakeSpan(results));
  }
  // Destroys the handles of the donated arguments.
  void TakeResults() {
    for (size_t i = 0; i < owned.size(); ++i)
      owned[i] = BufferHandle(results[i], Deleter<PJRT_Buffer>{&program.plugin});
  }

  const ClientProgram program;
  std::vector<BufferHandle> owned;
  std::vector<PJRT_Buffer*> arguments;
  std::vector<PJRT_Buffer*> results;
};

// `destroys`: whether the time includes the destruction of the donated arguments' handles and of the event, as a
// stream's time does.
void Plugins(benchmark::State& state, bool destroys) {
  PluginProgram program(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    program.SetArguments();
    const auto begin = std::chrono::steady_clock::now();
    auto end = program.Launch();
    if (!destroys) state.SetIterationTime(SecondsOf(begin));
    CHECK(end.ok() && end->Await().ok());
    *end = Event();
    program.TakeResults();
    if (destroys) state.SetIterationTime(SecondsOf(begin));
  }
}
void Executions(benchmark::State& state) { Plugins(state, /*destroys=*/false); }
void ExecutionsAndDestructions(benchmark::State& state) { Plugins(state, /*destroys=*/true); }
BENCHMARK(Executions)->Name("launch by the plugin's Execute, arguments")->Arg(2)->Arg(400)->UseManualTime();
BENCHMARK(ExecutionsAndDestructions)
    ->Name("launch by the plugin's Execute and destruction, arguments")
    ->Arg(2)
    ->Arg(400)
    ->UseManualTime();

// The program with `count` arguments on a device's stream.
struct StreamProgram {
  explicit StreamProgram(int count) {
    hal::AcquireOptions options;
    options.memory_bytes = uint64_t{64} << 20;
    device = (*hal::GetBackend(PluginSpec()))->Acquire(options).value();
    recipe = device->Compile(AddOne(count)).value();
    memory = device->AllocateMemory(count * 256).value();
    stream = device->CreateStream(hal::StreamKind::kCompute).value();
    for (int i = 0; i < count; ++i) {
      addresses.push_back(memory->address() + i * 256);
      CHECK(stream->Fill(addresses.back(), 0, kFloats * 4).ok());
    }
  }
  absl::Status Launch() const { return stream->Launch(recipe, {addresses, addresses, 0}); }

  std::unique_ptr<hal::Device> device;
  std::shared_ptr<const hal::Recipe> recipe;
  std::unique_ptr<hal::Memory> memory;
  std::unique_ptr<hal::Stream> stream;
  std::vector<hal::DeviceAddress> addresses;
};

void Streams(benchmark::State& state) {
  const StreamProgram program(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(program.Launch().ok());
    state.SetIterationTime(SecondsOf(begin));
    CHECK(program.stream->Synchronize().ok());
  }
}
BENCHMARK(Streams)->Name("launch by a stream, arguments")->Arg(2)->Arg(400)->UseManualTime();

// Time of launches in a row, including the device's time.
void PluginRows(benchmark::State& state) {
  PluginProgram program(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    Event last;
    for (int launch = 0; launch < kLaunches; ++launch) {
      program.SetArguments();
      last = program.Launch().value();
      program.TakeResults();
    }
    CHECK(last.Await().ok());
  }
}
void StreamRows(benchmark::State& state) {
  const StreamProgram program(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    for (int launch = 0; launch < kLaunches; ++launch) CHECK(program.Launch().ok());
    CHECK(program.stream->Synchronize().ok());
  }
}
BENCHMARK(PluginRows)->Name("32 launches by the plugin's Execute, arguments")->Arg(2)->Arg(140)->UseRealTime();
BENCHMARK(StreamRows)->Name("32 launches by a stream, arguments")->Arg(2)->Arg(140)->UseRealTime();

}  // namespace
}  // namespace hpu::pjrt
