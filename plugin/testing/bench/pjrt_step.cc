// Benchmark of a program's steps on a PJRT plugin's device: by the plugin's own Execute, and by hal::Stream::Launch.
// HPU_BENCH_PROGRAM names a file that holds a serialised xla::HloModuleProto; the file with the suffix ".arguments"
// holds the initial values of all arguments in order. benchmarks/plugin_steps.py writes both. HPU_BACKEND
// selects the plugin.
//
// Both variants do what TensorFlow does for a train step. They copy the integer inputs, which TensorFlow keeps in host
// memory, to the device. They run the step on the arguments that the previous step updated. Once per `steps per read`
// steps, they wait for the last step and copy its other results, such as the loss, to the host.
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
#include "tsl/platform/logging.h"

namespace hpu::pjrt {
namespace {

constexpr uint64_t kAlignment = 256;

// The program and the initial value of each argument.
struct Step {
  hal::Program program;
  ProgramTable table;
  std::vector<std::string> arguments;
  std::vector<bool> is_updated;  // by argument: whether a result overwrites the argument
  std::vector<size_t> inputs;    // arguments that each step copies to the device
  std::vector<size_t> outputs;   // results that overwrite no argument
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(file.good()) << "cannot read " << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Step ReadStep() {
  const char* path = std::getenv("HPU_BENCH_PROGRAM");
  CHECK(path != nullptr) << "HPU_BENCH_PROGRAM is not set";
  Step step;
  step.program = {"step", ReadFile(path)};
  step.table = ParseProgramTable(path, step.program.hlo).value();
  const std::string values = ReadFile(std::string(path) + ".arguments");
  size_t offset = 0;
  for (const hal::TensorSpec& spec : step.table.arguments) {
    CHECK(offset + spec.bytes <= values.size()) << path << ".arguments is too short";
    step.arguments.push_back(values.substr(offset, spec.bytes));
    offset += spec.bytes;
  }
  CHECK(offset == values.size()) << path << ".arguments is too long";
  step.is_updated.resize(step.arguments.size());
  for (size_t i = 0; i < step.table.results.size(); ++i) {
    const int argument = step.table.results[i].aliased_argument;
    if (argument >= 0) {
      step.is_updated[argument] = true;
    } else {
      step.outputs.push_back(i);
    }
  }
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    if (step.table.arguments[i].dtype == hal::DataType::kInt32 && !step.is_updated[i]) step.inputs.push_back(i);
  }
  return step;
}

// Steps by the plugin's client alone.
class ClientSteps {
 public:
  explicit ClientSteps(const Step& step)
      : step_(step), program_(step.program), results_(step.table.results.size()), outputs_(step.outputs.size()) {
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      owned_.push_back(Copy(step.arguments[i]));
      arguments_.push_back(owned_.back().get());
      if (!step.is_updated[i]) kept_.push_back(static_cast<int64_t>(i));
    }
  }

  void Queue() {
    for (const size_t i : step_.inputs) {
      owned_[i] = Copy(step_.arguments[i]);
      arguments_[i] = owned_[i].get();
    }
    auto end = Execute(*program_.executable, program_.plugin, arguments_, kept_, absl::MakeSpan(results_));
    CHECK(end.ok()) << end.status();
    end_ = *std::move(end);
    auto output = outputs_.begin();
    for (size_t i = 0; i < results_.size(); ++i) {
      BufferHandle result(results_[i], Deleter<PJRT_Buffer>{&program_.plugin});
      const int argument = step_.table.results[i].aliased_argument;
      if (argument >= 0) {
        arguments_[argument] = result.get();
        owned_[argument] = std::move(result);
      } else {
        *output++ = std::move(result);
      }
    }
  }

  void Read() {
    CHECK(end_.Await().ok());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      std::string value(step_.table.results[step_.outputs[i]].spec.bytes, '\0');
      const auto end = program_.client->ToHost(outputs_[i].get(), value.data(), value.size());
      CHECK(end.ok() && end->Await().ok());
      benchmark::DoNotOptimize(value);
    }
  }

 private:
  BufferHandle Copy(const std::string& bytes) const {
    return program_.client->ToDevice(bytes.data(), bytes.size(), nullptr).value();
  }

  const Step& step_;
  const ClientProgram program_;
  std::vector<BufferHandle> owned_;
  std::vector<PJRT_Buffer*> arguments_;
  std::vector<int64_t> kept_;
  std::vector<PJRT_Buffer*> results_;
  std::vector<BufferHandle> outputs_;
  Event end_;
};

// Steps by a stream of the device. The host buffer has the same layout as the device memory.
class StreamSteps {
 public:
  explicit StreamSteps(const Step& step)
      : step_(step),
        device_((*hal::GetBackend(PluginSpec()))->Acquire({}).value()),
        recipe_(device_->Compile(step.program).value()),
        stream_(device_->CreateStream(hal::StreamKind::kCompute).value()) {
    uint64_t bytes = 0;
    const auto place = [&bytes](uint64_t size) {
      const uint64_t offset = bytes;
      bytes += RoundUp(std::max<uint64_t>(size, 1), kAlignment);
      return offset;
    };
    for (const hal::TensorSpec& spec : step.table.arguments) arguments_.push_back(place(spec.bytes));
    for (const hal::ResultSpec& result : step.table.results) {
      results_.push_back(result.aliased_argument < 0 ? place(result.spec.bytes) : arguments_[result.aliased_argument]);
    }
    memory_ = device_->AllocateMemory(bytes).value();
    host_ = device_->AllocateHost(bytes).value();
    for (auto* addresses : {&arguments_, &results_}) {
      for (hal::DeviceAddress& address : *addresses) address += memory_->address();
    }
    for (size_t i = 0; i < arguments_.size(); ++i) {
      std::memcpy(HostCopyOf(arguments_[i]), step.arguments[i].data(), step.arguments[i].size());
      CopyToDevice(i);
    }
    CHECK(stream_->Synchronize().ok());
  }

  void Queue() {
    for (const size_t i : step_.inputs) CopyToDevice(i);
    CHECK(stream_->Launch(recipe_, {arguments_, results_, 0}).ok());
  }

  void Read() {
    for (const size_t i : step_.outputs) {
      const uint64_t bytes = step_.table.results[i].spec.bytes;
      CHECK(stream_->CopyToHost(results_[i], HostCopyOf(results_[i]), bytes).ok());
    }
    CHECK(stream_->Synchronize().ok());
  }

 private:
  char* HostCopyOf(hal::DeviceAddress address) const {
    return static_cast<char*>(host_->data()) + (address - memory_->address());
  }
  void CopyToDevice(size_t argument) {
    const hal::DeviceAddress address = arguments_[argument];
    CHECK(stream_->CopyToDevice(HostCopyOf(address), address, step_.arguments[argument].size()).ok());
  }

  const Step& step_;
  const std::unique_ptr<hal::Device> device_;
  const std::shared_ptr<const hal::Recipe> recipe_;
  std::unique_ptr<hal::Memory> memory_;
  std::unique_ptr<hal::HostBuffer> host_;
  const std::unique_ptr<hal::Stream> stream_;
  std::vector<hal::DeviceAddress> arguments_;
  std::vector<hal::DeviceAddress> results_;
};

template <typename Steps>
void Measure(benchmark::State& state) {
  const Step step = ReadStep();
  Steps steps(step);
  const int64_t steps_per_read = state.range(0);
  while (state.KeepRunningBatch(steps_per_read)) {
    for (int64_t i = 0; i < steps_per_read; ++i) steps.Queue();
    steps.Read();
  }
}

const bool registered = [] {
  if (std::getenv("HPU_BENCH_PROGRAM") == nullptr) return false;
  for (const auto& [name, run] : {std::pair("step by the plugin's Execute, steps per read", Measure<ClientSteps>),
                                  {"step by a stream, steps per read", Measure<StreamSteps>}}) {
    benchmark::RegisterBenchmark(name, run)->Arg(1)->Arg(100)->UseRealTime()->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace hpu::pjrt
