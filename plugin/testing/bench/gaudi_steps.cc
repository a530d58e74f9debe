// Benchmarks of the Gaudi backend over a SynapseAI library, such as the double. HPU_BACKEND=gaudi:PATH selects the
// library; benchmarks/gaudi.py runs the benchmarks.
//  - Processor time of the calling thread for a launch by hal::Stream::Launch, and by synLaunch alone. Both launch the
//    same graph, which updates all arguments in place.
//  - Time to compile the program of HPU_BENCH_PROGRAM, a file that holds a serialised xla::HloModuleProto, by phase.
//  - Counts for this program: its graphs, and its instructions by opcode and number of nodes.
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "benchmark/benchmark.h"
#include "plugin/backends/gaudi/compiler/graph_compiler.h"
#include "plugin/backends/gaudi/device/device.h"
#include "plugin/backends/gaudi/device/runtime.h"
#include "plugin/backends/gaudi/lowerings/hlo_preparation.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "plugin/backends/gaudi/lowerings/program_lowering.h"
#include "plugin/backends/gaudi/synapse/launch_table.h"
#include "plugin/program/program_table.h"
#include "tsl/platform/logging.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/builder/xla_computation.h"

namespace hpu::gaudi {
namespace {

constexpr int kFloats = 8;
constexpr uint64_t kAddressStep = 128;  // between arguments; SynapseAI's alignment

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Processor time of the calling thread. Elapsed time contains the double's threads, which compute the graph.
double ThreadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The library and a device, which all benchmarks share: a process starts SynapseAI once.
struct Card {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<GaudiDevice> device;
  synapse::DeviceInfo info;

  PlanTarget target() const { return {info.generation, runtime->library().profile()}; }
};

// Skips the benchmark and returns null unless HPU_BACKEND is gaudi:PATH.
Card* GetCard(benchmark::State& state) {
  const char* backend = std::getenv("HPU_BACKEND");
  absl::string_view path = backend == nullptr ? "" : backend;
  if (!absl::ConsumePrefix(&path, "gaudi:")) {
    state.SkipWithError("HPU_BACKEND is not gaudi:PATH");
    return nullptr;
  }
  static Card* const card = [&] {
    auto* made = new Card;
    made->runtime = Runtime::Start(std::string(path)).value();
    hal::AcquireOptions options;
    options.memory_bytes = uint64_t{64} << 20;
    made->device = GaudiDevice::Acquire(*made->runtime, options, "gaudi").value();
    made->info = made->runtime->library().GetDeviceInfo(made->device->id()).value();
    return made;
  }();
  return card;
}

// Adds 1 to each of `count` arrays, in place.
xla::HloModuleProto AddOne(int count) {
  xla::XlaBuilder builder("add_one");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {kFloats});
  std::vector<xla::XlaOp> results;
  for (int i = 0; i < count; ++i) {
    results.push_back(xla::Add(xla::Parameter(&builder, i, shape, "x"), xla::ConstantR0<float>(&builder, 1)));
    builder.SetUpAlias({i}, i, {}, xla::HloInputOutputAliasConfig::AliasKind::kMayAlias);
  }
  xla::Tuple(&builder, results);
  return builder.Build().value().proto();
}

// Arguments of value 0, in device memory.
struct Arguments {
  std::unique_ptr<hal::Memory> memory;
  std::vector<hal::DeviceAddress> addresses;
};

Arguments MakeArguments(Card& card, int count) {
  Arguments arguments;
  arguments.memory = card.device->AllocateMemory(count * kAddressStep).value();
  const auto stream = card.device->CreateStream(hal::StreamKind::kCompute).value();
  CHECK(stream->Fill(arguments.memory->address(), 0, count * kAddressStep).ok());
  CHECK(stream->Synchronize().ok());
  for (int i = 0; i < count; ++i) arguments.addresses.push_back(arguments.memory->address() + i * kAddressStep);
  return arguments;
}

void LaunchByStream(benchmark::State& state) {
  Card* const card = GetCard(state);
  if (card == nullptr) return;
  const int count = static_cast<int>(state.range(0));
  const auto recipe = card->device->Compile({"add_one", AddOne(count).SerializeAsString()}).value();
  const Arguments arguments = MakeArguments(*card, count);
  const auto workspace = card->device->AllocateMemory(recipe->workspace_bytes() + kAddressStep).value();
  const auto stream = card->device->CreateStream(hal::StreamKind::kCompute).value();
  for (auto _ : state) {
    const double begin = ThreadSeconds();
    CHECK(stream->Launch(recipe, {arguments.addresses, arguments.addresses, workspace->address()}).ok());
    state.SetIterationTime(ThreadSeconds() - begin);
    CHECK(stream->Synchronize().ok());
  }
}
BENCHMARK(LaunchByStream)->Name("Gaudi launch by a stream, arguments")->Arg(2)->Arg(400)->UseManualTime();

void LaunchByLibrary(benchmark::State& state) {
  Card* const card = GetCard(state);
  if (card == nullptr) return;
  const int count = static_cast<int>(state.range(0));
  const synapse::Library& library = card->runtime->library();
  const xla::HloModuleProto proto = AddOne(count);
  const ProgramTable table = MakeProgramTable(proto).value();
  const GraphPlan plan = LowerModule(*PrepareModule(proto, card->target()).value(), table, card->target()).value();
  const synapse::OwnedRecipe recipe = CompileGraph(library, card->info.generation, "add_one", plan, table).value();
  const Arguments arguments = MakeArguments(*card, count);
  synapse::LaunchTable launch(library.profile());
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlanTensor& tensor = plan.tensors[i];
    if (tensor.role != TensorRole::kArgument && tensor.role != TensorRole::kResult) continue;
    CHECK(launch.Append(TensorName(plan, static_cast<TensorId>(i)), tensor.sizes).ok());
    addresses.push_back(card->device->ToCard(arguments.addresses[tensor.number]));
  }
  CHECK(library.RetrieveIds(recipe.get(), &launch).ok());
  for (size_t i = 0; i < addresses.size(); ++i) launch.SetAddress(i, addresses[i]);
  const auto workspace = card->device->AllocateMemory(uint64_t{1} << 20).value();
  uint64_t workspace_bytes = 0;
  CHECK_EQ(0, library.functions().synWorkspaceGetSize(&workspace_bytes, recipe.get()));
  const uint64_t workspace_address = workspace_bytes == 0 ? 0 : card->device->ToCard(workspace->address());
  const synapse::OwnedStream stream = library.CreateStream(card->device->id(), synapse::Engine::kCompute).value();
  for (auto _ : state) {
    const double begin = ThreadSeconds();
    CHECK(library.Launch(stream.get(), launch, workspace_address, recipe.get()).ok());
    state.SetIterationTime(ThreadSeconds() - begin);
    CHECK_EQ(0, library.functions().synStreamSynchronize(stream.get()));
  }
}
BENCHMARK(LaunchByLibrary)->Name("Gaudi launch by synLaunch, arguments")->Arg(2)->Arg(400)->UseManualTime();

enum Phase { kPrepare, kLower, kBuildAndCompile };

// Skips the benchmark and returns false if HPU_BENCH_PROGRAM is not set.
bool ReadBenchProgram(benchmark::State& state, xla::HloModuleProto* proto) {
  const char* path = std::getenv("HPU_BENCH_PROGRAM");
  if (path == nullptr) {
    state.SkipWithError("HPU_BENCH_PROGRAM is not set");
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  CHECK(proto->ParseFromString(std::string(std::istreambuf_iterator<char>(file), {}))) << path;
  return true;
}

void Compile(benchmark::State& state, Phase phase) {
  Card* const card = GetCard(state);
  xla::HloModuleProto proto;
  if (card == nullptr || !ReadBenchProgram(state, &proto)) return;
  const ProgramTable table = MakeProgramTable(proto).value();
  for (auto _ : state) {
    auto begin = std::chrono::steady_clock::now();
    const auto end_phase = [&](Phase ended) {
      if (phase == ended) state.SetIterationTime(SecondsSince(begin));
      begin = std::chrono::steady_clock::now();
    };
    const std::unique_ptr<xla::HloModule> module = PrepareModule(proto, card->target()).value();
    end_phase(kPrepare);
    const GraphPlan plan = LowerModule(*module, table, card->target()).value();
    end_phase(kLower);
    if (phase == kBuildAndCompile) {
      CHECK(CompileGraph(card->runtime->library(), card->info.generation, "step", plan, table).ok());
      end_phase(kBuildAndCompile);
    }
    state.counters["instructions"] = module->instruction_count();
    state.counters["nodes"] = static_cast<double>(plan.nodes.size());
  }
}
BENCHMARK_CAPTURE(Compile, prepare, kPrepare)
    ->Name("Gaudi compile, HLO passes")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);
BENCHMARK_CAPTURE(Compile, lower, kLower)
    ->Name("Gaudi compile, lowering")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);
BENCHMARK_CAPTURE(Compile, build, kBuildAndCompile)
    ->Name("Gaudi compile, graph and library")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

// Counters: "graphs", "nodes", and "dot: no node", "dot: one node", "dot: several nodes", "dot: refused" for each
// opcode.
void CountInstructions(benchmark::State& state) {
  Card* const card = GetCard(state);
  xla::HloModuleProto proto;
  if (card == nullptr || !ReadBenchProgram(state, &proto)) return;
  const ProgramTable table = MakeProgramTable(proto).value();
  InstructionCounts counts;
  for (auto _ : state) {
    const std::unique_ptr<xla::HloModule> module = PrepareModule(proto, card->target()).value();
    counts.clear();
    const absl::StatusOr<ProgramPlan> plan = LowerProgram(*module, table, card->target(), &counts);
    CHECK(plan.ok() || absl::IsUnimplemented(plan.status())) << plan.status();
    if (!plan.ok()) continue;
    double nodes = 0;
    for (const SegmentPlan& segment : plan->segments) nodes += static_cast<double>(segment.graph.nodes.size());
    state.counters["graphs"] = static_cast<double>(plan->segments.size());
    state.counters["nodes"] = nodes;
  }
  for (const auto& [opcode, count] : counts) {
    state.counters[absl::StrCat(opcode, ": no node")] = static_cast<double>(count.no_node);
    state.counters[absl::StrCat(opcode, ": one node")] = static_cast<double>(count.one_node);
    state.counters[absl::StrCat(opcode, ": several nodes")] = static_cast<double>(count.several_nodes);
    state.counters[absl::StrCat(opcode, ": refused")] = static_cast<double>(count.refused);
  }
}
BENCHMARK(CountInstructions)->Name("Instructions for a Gaudi")->Iterations(1);

}  // namespace
}  // namespace hpu::gaudi
