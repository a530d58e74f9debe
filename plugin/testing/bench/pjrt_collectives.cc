// Benchmark of an all-reduce between two devices of a PJRT plugin for the CPU, through host memory and by a program of
// both devices (HPU_PJRT_COLLECTIVES). The ranks are threads of this process.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmark/benchmark.h"
#include "plugin/hal/backend.h"
#include "plugin/testing/bench/pjrt_plugin.h"
#include "tsl/platform/logging.h"

namespace hpu::pjrt {
namespace {

constexpr int kRanks = 2;

struct Rank {
  std::unique_ptr<hal::Device> device;
  std::unique_ptr<hal::Memory> memory;  // the source, then the destination
  std::unique_ptr<hal::HostBuffer> host;
  std::unique_ptr<hal::Stream> stream;
  std::unique_ptr<hal::Communicator> communicator;
};

// Ranks with a source of `count` ones each.
std::vector<Rank> Ranks(const char* mode, uint64_t count) {
  setenv("HPU_PJRT_COLLECTIVES", mode, 1);
  setenv("HPU_PJRT_OPTIONS", "cpu_device_count=2", 1);
  std::vector<Rank> ranks(kRanks);
  const std::vector<float> ones(count, 1);
  const uint64_t bytes = count * sizeof(float);
  for (Rank& rank : ranks) {
    hal::AcquireOptions options;
    options.memory_bytes = uint64_t{256} << 20;
    rank.device = (*hal::GetBackend(PluginSpec()))->Acquire(options).value();
    rank.memory = rank.device->AllocateMemory(2 * bytes).value();
    rank.host = rank.device->AllocateHost(bytes).value();
    rank.stream = rank.device->CreateStream(hal::StreamKind::kCompute).value();
    std::copy(ones.begin(), ones.end(), static_cast<float*>(rank.host->data()));
    CHECK(rank.stream->CopyToDevice(rank.host->data(), rank.memory->address(), bytes).ok());
    CHECK(rank.stream->Synchronize().ok());
  }
  const std::string id = ranks[0].device->CreateCommunicatorId().value();
  std::vector<std::thread> threads;
  for (int number = 0; number < kRanks; ++number) {
    threads.emplace_back([&, number] {
      hal::CommunicatorOptions options;
      options.id = id;
      options.rank = number;
      options.size = kRanks;
      ranks[number].communicator = ranks[number].device->CreateCommunicator(options).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ranks;
}

void AllReduce(benchmark::State& state, const char* mode) {
  const uint64_t count = (static_cast<uint64_t>(state.range(0)) << 20) / sizeof(float);
  const uint64_t bytes = count * sizeof(float);
  std::vector<Rank> ranks = Ranks(mode, count);
  const auto run = [&] {
    for (Rank& rank : ranks) {
      const hal::DeviceAddress source = rank.memory->address();
      CHECK(rank.communicator
                ->AllReduce(*rank.stream, source, source + bytes, count, hal::DataType::kFloat32, hal::ReduceOp::kSum)
                .ok());
    }
    for (Rank& rank : ranks) CHECK(rank.stream->Synchronize().ok());
  };
  run();  // compiles
  for (auto _ : state) run();
  for (Rank& rank : ranks) {
    CHECK(rank.stream->CopyToHost(rank.memory->address() + bytes, rank.host->data(), bytes).ok());
    CHECK(rank.stream->Synchronize().ok());
    const float* const sums = static_cast<const float*>(rank.host->data());
    for (uint64_t i = 0; i < count; ++i) CHECK_EQ(kRanks, sums[i]);
  }
}
void ThroughHost(benchmark::State& state) { AllReduce(state, "host"); }
void ByDevices(benchmark::State& state) { AllReduce(state, "device"); }
BENCHMARK(ThroughHost)->Name("all-reduce through the host, MiB")->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(ByDevices)->Name("all-reduce by the devices, MiB")->Arg(1)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace hpu::pjrt
