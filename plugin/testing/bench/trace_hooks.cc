// Benchmark of the tracing hooks without a trace: calls of an idle stream, with and without the hooks.
// benchmarks/profiling.py compares the cost with the duration of a train step.
#include <memory>
#include <utility>

#include "benchmark/benchmark.h"
#include "plugin/base/trace/trace.h"
#include "plugin/hal/stream.h"
#include "plugin/tensorflow/device/traced_stream.h"

namespace hpu {
namespace {

class IdleStream final : public hal::Stream {
 public:
  hal::StreamKind kind() const override { return hal::StreamKind::kCompute; }
  absl::Status CopyToDevice(const void*, hal::DeviceAddress, uint64_t) override { return Done(); }
  absl::Status CopyToHost(hal::DeviceAddress, void*, uint64_t) override { return Done(); }
  absl::Status CopyOnDevice(hal::DeviceAddress, hal::DeviceAddress, uint64_t) override { return Done(); }
  absl::Status Fill(hal::DeviceAddress, uint8_t, uint64_t) override { return Done(); }
  absl::Status Launch(std::shared_ptr<const hal::Recipe>, const hal::LaunchArguments&) override { return Done(); }
  absl::Status Record(hal::Event&) override { return Done(); }
  absl::Status Wait(const hal::Event&) override { return Done(); }
  absl::Status AddCallback(std::function<void(absl::Status)>) override { return Done(); }
  absl::Status Synchronize() override { return Done(); }

 private:
  absl::Status Done() {
    benchmark::DoNotOptimize(++calls_);
    return absl::OkStatus();
  }

  int64_t calls_ = 0;
};

std::unique_ptr<hal::Stream> MakeStream(bool traced) {
  std::unique_ptr<hal::Stream> stream = std::make_unique<IdleStream>();
  return traced ? TraceStream(std::move(stream)) : std::move(stream);
}

void Launch(benchmark::State& state, bool traced) {
  const std::unique_ptr<hal::Stream> stream = MakeStream(traced);
  const hal::LaunchArguments arguments;
  for (auto _ : state) {
    if (traced) {
      const trace::LaunchName named("habana_cluster_step_0");
      benchmark::DoNotOptimize(stream->Launch(nullptr, arguments));
    } else {
      benchmark::DoNotOptimize(stream->Launch(nullptr, arguments));
    }
  }
}
BENCHMARK_CAPTURE(Launch, bare, false)->Name("launch, bare");
BENCHMARK_CAPTURE(Launch, traced, true)->Name("launch, tracing off");

void Copy(benchmark::State& state, bool traced) {
  const std::unique_ptr<hal::Stream> stream = MakeStream(traced);
  for (auto _ : state) benchmark::DoNotOptimize(stream->CopyOnDevice(0, 0, 64));
}
BENCHMARK_CAPTURE(Copy, bare, false)->Name("copy, bare");
BENCHMARK_CAPTURE(Copy, traced, true)->Name("copy, tracing off");

// Calls that are forwarded unchanged: events, waits, callbacks.
void Wait(benchmark::State& state, bool traced) {
  const std::unique_ptr<hal::Stream> stream = MakeStream(traced);
  for (auto _ : state) benchmark::DoNotOptimize(stream->Synchronize());
}
BENCHMARK_CAPTURE(Wait, bare, false)->Name("wait, bare");
BENCHMARK_CAPTURE(Wait, traced, true)->Name("wait, tracing off");

void InScope(benchmark::State& state) {
  for (auto _ : state) const trace::Scope scope(trace::Lane::kCpuFallback, "habana_cluster_step_0");
}
BENCHMARK(InScope)->Name("scope, tracing off");

}  // namespace
}  // namespace hpu
