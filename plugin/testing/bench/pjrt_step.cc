// Benchmark of a program's step on a PJRT plugin's device: by the plugin's own Execute, and by hal::Stream::Launch.
// HPU_BENCH_PROGRAM names a file that holds a serialised xla::HloModuleProto; benchmarks/plugin_steps.py writes it.
// HPU_BACKEND selects the plugin.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "plugin/backends/pjrt/helper_programs.h"
#include "plugin/base/round_up.h"
#include "plugin/hal/backend.h"
#include "plugin/program/program_table.h"
#include "plugin/testing/bench/pjrt_plugin.h"
#include "tsl/platform/bfloat16.h"
#include "tsl/platform/logging.h"

namespace hpu::pjrt {
namespace {

constexpr uint64_t kAlignment = 256;

// The program and the initial value of each argument.
struct Step {
  hal::Program program;
  ProgramTable table;
  std::vector<std::string> arguments;
};

template <typename Number>
void FillWithSmallNumbers(std::string* bytes) {
  auto* numbers = reinterpret_cast<Number*>(bytes->data());
  for (size_t i = 0; i < bytes->size() / sizeof(Number); ++i) numbers[i] = static_cast<Number>(0.01f * (1 + i % 7));
}

Step ReadStep() {
  const char* path = std::getenv("HPU_BENCH_PROGRAM");
  CHECK(path != nullptr) << "HPU_BENCH_PROGRAM is not set";
  std::ifstream file(path, std::ios::binary);
  Step step;
  step.program = {"step", std::string(std::istreambuf_iterator<char>(file), {})};
  step.table = ParseProgramTable(path, step.program.hlo).value();
  for (const hal::TensorSpec& spec : step.table.arguments) {
    std::string& bytes = step.arguments.emplace_back(spec.bytes, '\0');
    if (spec.dtype == hal::DataType::kFloat32) FillWithSmallNumbers<float>(&bytes);
    if (spec.dtype == hal::DataType::kBFloat16) FillWithSmallNumbers<tsl::bfloat16>(&bytes);
  }
  return step;
}

// Each step reads the arguments that the one before it updated, and starts when that one has ended.
void Plugins(benchmark::State& state) {
  const Step step = ReadStep();
  const ClientProgram program(step.program);
  std::vector<BufferHandle> owned;
  std::vector<PJRT_Buffer*> arguments;
  for (const std::string& bytes : step.arguments) {
    owned.push_back(program.client->ToDevice(bytes.data(), bytes.size(), nullptr).value());
    arguments.push_back(owned.back().get());
  }
  std::vector<bool> is_donated(arguments.size());
  for (const hal::ResultSpec& result : step.table.results) {
    if (result.aliased_argument >= 0) is_donated[result.aliased_argument] = true;
  }
  std::vector<int64_t> kept;
  for (size_t i = 0; i < is_donated.size(); ++i) {
    if (!is_donated[i]) kept.push_back(static_cast<int64_t>(i));
  }
  std::vector<PJRT_Buffer*> results(step.table.results.size());
  for (auto _ : state) {
    const auto end = Execute(*program.executable, program.plugin, arguments, kept, absl::MakeSpan(results));
    CHECK(end.ok() && end->Await().ok());
    for (size_t i = 0; i < results.size(); ++i) {
      BufferHandle result(results[i], Deleter<PJRT_Buffer>{&program.plugin});
      const int argument = step.table.results[i].aliased_argument;
      if (argument < 0) continue;
      arguments[argument] = result.get();
      owned[argument] = std::move(result);
    }
  }
}

void Streams(benchmark::State& state) {
  const Step step = ReadStep();
  const auto device = (*hal::GetBackend(PluginSpec()))->Acquire({}).value();
  const auto recipe = device->Compile(step.program).value();
  uint64_t bytes = 0;
  const auto place = [&bytes](uint64_t size) {
    const uint64_t offset = bytes;
    bytes += RoundUp(std::max<uint64_t>(size, 1), kAlignment);
    return offset;
  };
  std::vector<hal::DeviceAddress> arguments, results;
  for (const hal::TensorSpec& spec : step.table.arguments) arguments.push_back(place(spec.bytes));
  for (const hal::ResultSpec& result : step.table.results) {
    results.push_back(result.aliased_argument < 0 ? place(result.spec.bytes) : arguments[result.aliased_argument]);
  }
  const auto memory = device->AllocateMemory(bytes).value();
  for (auto* addresses : {&arguments, &results}) {
    for (hal::DeviceAddress& address : *addresses) address += memory->address();
  }
  const auto stream = device->CreateStream(hal::StreamKind::kCompute).value();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& value = step.arguments[i];
    if (value.empty()) continue;
    const auto host = device->AllocateHost(value.size()).value();
    std::memcpy(host->data(), value.data(), value.size());
    CHECK(stream->CopyToDevice(host->data(), arguments[i], value.size()).ok());
    CHECK(stream->Synchronize().ok());
  }
  for (auto _ : state) {
    CHECK(stream->Launch(recipe, {arguments, results, 0}).ok());
    CHECK(stream->Synchronize().ok());
  }
}

const bool registered = [] {
  if (std::getenv("HPU_BENCH_PROGRAM") == nullptr) return false;
  for (const auto& [name, run] : {std::pair("step by the plugin's Execute", Plugins), {"step by a stream", Streams}}) {
    benchmark::RegisterBenchmark(name, run)->UseRealTime()->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace hpu::pjrt
