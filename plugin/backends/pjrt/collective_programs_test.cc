// Tests of collective programs on a client of several devices, with one thread per rank.
#include "plugin/backends/pjrt/collective_programs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/client/topology.h"
#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/backends/pjrt/helper_programs.h"
#include "plugin/backends/pjrt/target_compiler.h"
#include "plugin/backends/pjrt/xla_settings.h"
#include "plugin/testing/cts/fixture.h"
#include "xla/service/hlo.pb.h"

namespace hpu::pjrt {
namespace collective_programs_test {

using Kind = common::Collective::Kind;
using Bytes = std::vector<char>;

constexpr uint64_t kCount = 37;

struct Setup {
  const char* name;
  const char* file;  // of the plugin, in CTS_PACKAGES
  int ranks;
};

// One client with a device for each rank.
class CollectivePrograms : public testing::TestWithParam<Setup> {
 protected:
  void SetUp() override {
    const std::string file = absl::StrCat(CTS_PACKAGES, "/", GetParam().file);
    if (access(file.c_str(), R_OK) != 0) GTEST_SKIP() << file << " is not installed";
    const auto plugin = Plugin::Load(file);
    ASSERT_TRUE(plugin.ok()) << plugin.status();
    const auto first = cts::Value(Client::Create(**plugin, {{"cpu_device_count", int64_t{ranks()}}}));
    ASSERT_NE(nullptr, first);
    for (int rank = 0; rank < ranks(); ++rank) clients_.push_back(cts::Value(first->ForDevice(rank)));
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, first->ForDevice(ranks()).status().code());
  }

  int ranks() const { return GetParam().ranks; }

  // Runs the program on all devices; rank r runs on device `order[r]`. Returns the ranks' results, of `bytes` bytes.
  std::vector<Bytes> Run(const std::string& program, const std::vector<int>& order, const std::vector<Bytes>& sources,
                         uint64_t bytes) {
    std::vector<int64_t> devices;
    for (const int device : order) devices.push_back(clients_[device]->device_id());
    const Plugin& plugin = clients_[0]->plugin();
    const auto options = cts::Value(CollectiveCompileOptions(plugin.path(), devices));
    const std::unique_ptr<Executable> executable = cts::Value(clients_[0]->CompileCollective(program, options));
    std::vector<Bytes> results(ranks(), Bytes(bytes));
    if (executable == nullptr) return results;
    ++launches_;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks(); ++rank) {
      threads.emplace_back([&, rank] {
        const Client& client = *clients_[order[rank]];
        const Bytes& source = sources[rank];
        const BufferHandle argument = cts::Value(client.ToDevice(source.data(), source.size(), nullptr));
        PJRT_Buffer* arguments[] = {argument.get()};
        PJRT_Buffer* result = nullptr;
        const Event end = cts::Value(
            Execute(*executable, plugin, arguments, {}, absl::MakeSpan(&result, 1), {client.device(), launches_}));
        if (result == nullptr) return;
        const BufferHandle owned(result, Deleter<PJRT_Buffer>{&plugin});
        EXPECT_OK(end.Await());
        EXPECT_OK(cts::Value(client.ToHost(result, results[rank].data(), bytes)).Await());
      });
    }
    for (std::thread& thread : threads) thread.join();
    return results;
  }
  std::vector<int> InOrder() const {
    std::vector<int> order;
    for (int rank = 0; rank < ranks(); ++rank) order.push_back(rank);
    return order;
  }

  std::vector<std::unique_ptr<Client>> clients_;
  int launches_ = 0;
};

common::Collective Of(Kind kind, hal::DataType dtype, hal::ReduceOp op = hal::ReduceOp::kSum, int root = 0) {
  common::Collective collective;
  collective.kind = kind;
  collective.elements = kCount;
  collective.dtype = dtype;
  collective.op = op;
  collective.root = root;
  return collective;
}

// Source element i of a rank: 1 to 3, so that sums and products of four ranks are exact in every type.
template <typename T>
T Element(int rank, uint64_t i) {
  return static_cast<T>(static_cast<float>(1 + (rank + i) % 3));
}

template <typename T>
T Reduced(hal::ReduceOp op, int ranks, uint64_t i) {
  float value = static_cast<float>(Element<T>(0, i));
  for (int rank = 1; rank < ranks; ++rank) {
    const auto next = static_cast<float>(Element<T>(rank, i));
    switch (op) {
      case hal::ReduceOp::kSum:
      case hal::ReduceOp::kAverage:
        value += next;
        break;
      case hal::ReduceOp::kProduct:
        value *= next;
        break;
      case hal::ReduceOp::kMin:
        value = std::min(value, next);
        break;
      case hal::ReduceOp::kMax:
        value = std::max(value, next);
        break;
    }
  }
  if (op == hal::ReduceOp::kAverage) value /= static_cast<float>(ranks);
  if (std::is_integral_v<T>) value = std::floor(value);
  return static_cast<T>(value);
}

template <typename T>
Bytes Source(int rank, uint64_t count) {
  Bytes bytes(count * sizeof(T));
  for (uint64_t i = 0; i < count; ++i) {
    const T element = Element<T>(rank, i);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

template <typename T>
T At(const Bytes& bytes, uint64_t i) {
  T element;
  std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
  return element;
}

// Calls `check(zero, dtype)` for each tested type.
template <typename Check>
void ForEachType(const Check& check) {
  check(float{}, hal::DataType::kFloat32);
  check(double{}, hal::DataType::kFloat64);
  check(Eigen::bfloat16{}, hal::DataType::kBFloat16);
  check(Eigen::half{}, hal::DataType::kFloat16);
  check(int32_t{}, hal::DataType::kInt32);
  check(int64_t{}, hal::DataType::kInt64);
  check(uint8_t{}, hal::DataType::kUInt8);
}

constexpr hal::ReduceOp kOps[] = {hal::ReduceOp::kSum, hal::ReduceOp::kProduct, hal::ReduceOp::kMin,
                                  hal::ReduceOp::kMax, hal::ReduceOp::kAverage};

TEST_P(CollectivePrograms, AllReduce) {
  ForEachType([&](auto zero, hal::DataType dtype) {
    using T = decltype(zero);
    std::vector<Bytes> sources;
    for (int rank = 0; rank < ranks(); ++rank) sources.push_back(Source<T>(rank, kCount));
    for (const hal::ReduceOp op : kOps) {
      const std::string program = CollectiveProgram(Of(Kind::kAllReduce, dtype, op), ranks());
      const auto results = Run(program, InOrder(), sources, kCount * sizeof(T));
      for (int rank = 0; rank < ranks(); ++rank) {
        for (uint64_t i = 0; i < kCount; ++i) {
          ASSERT_EQ(Reduced<T>(op, ranks(), i), At<T>(results[rank], i)) << hal::NameOf(dtype) << " " << program;
        }
      }
    }
  });
}

TEST_P(CollectivePrograms, ReduceScatter) {
  ForEachType([&](auto zero, hal::DataType dtype) {
    using T = decltype(zero);
    std::vector<Bytes> sources;
    for (int rank = 0; rank < ranks(); ++rank) sources.push_back(Source<T>(rank, kCount * ranks()));
    for (const hal::ReduceOp op : kOps) {
      const std::string program = CollectiveProgram(Of(Kind::kReduceScatter, dtype, op), ranks());
      const auto results = Run(program, InOrder(), sources, kCount * sizeof(T));
      for (int rank = 0; rank < ranks(); ++rank) {
        for (uint64_t i = 0; i < kCount; ++i) {
          ASSERT_EQ(Reduced<T>(op, ranks(), rank * kCount + i), At<T>(results[rank], i))
              << hal::NameOf(dtype) << " " << program;
        }
      }
    }
  });
}

// Also complex and boolean elements. Rank r runs on another device than r.
TEST_P(CollectivePrograms, MovesKeepTheBytes) {
  std::vector<int> order = InOrder();
  std::reverse(order.begin(), order.end());
  for (const auto dtype : {hal::DataType::kFloat32, hal::DataType::kBFloat16, hal::DataType::kBool,
                           hal::DataType::kFloat64, hal::DataType::kComplex128, hal::DataType::kUInt8}) {
    const uint64_t bytes = kCount * hal::SizeOf(dtype);
    std::vector<Bytes> sources;
    Bytes gathered;
    for (int rank = 0; rank < ranks(); ++rank) {
      const std::vector<uint8_t> pattern = cts::Pattern(bytes, static_cast<uint8_t>(rank));
      sources.emplace_back(pattern.begin(), pattern.end());
      gathered.insert(gathered.end(), pattern.begin(), pattern.end());
    }
    for (const Bytes& result :
         Run(CollectiveProgram(Of(Kind::kAllGather, dtype), ranks()), order, sources, bytes * ranks())) {
      EXPECT_EQ(gathered, result) << hal::NameOf(dtype);
    }
    for (int root = 0; root < ranks(); ++root) {
      const common::Collective broadcast = Of(Kind::kBroadcast, dtype, hal::ReduceOp::kSum, root);
      for (const Bytes& result : Run(CollectiveProgram(broadcast, ranks()), order, sources, bytes)) {
        EXPECT_EQ(sources[root], result) << hal::NameOf(dtype) << " from rank " << root;
      }
    }
  }
}

// Sends and receives: each rank sends to the next.
TEST_P(CollectivePrograms, PermutationsMoveElements) {
  std::vector<std::string> pairs;
  std::vector<Bytes> sources;
  for (int rank = 0; rank < ranks(); ++rank) {
    pairs.push_back(absl::StrCat("[", rank, ", ", (rank + 1) % ranks(), "]"));
    sources.push_back(Source<float>(rank, kCount));
  }
  const std::string program =
      absl::StrCat("module @send attributes {mhlo.num_replicas = ", ranks(),
                   " : i32} { func.func @main(%x: tensor<37xf32>) -> tensor<37xf32> {\n"
                   "%y = \"stablehlo.collective_permute\"(%x) {source_target_pairs = dense<[",
                   absl::StrJoin(pairs, ", "), "]> : tensor<", ranks(),
                   "x2xi64>} : (tensor<37xf32>) -> tensor<37xf32>\nreturn %y : tensor<37xf32> } }");
  const auto results = Run(program, InOrder(), sources, kCount * sizeof(float));
  for (int rank = 0; rank < ranks(); ++rank) EXPECT_EQ(sources[rank], results[(rank + 1) % ranks()]);
}

// Programs without collectives run on the device of their Client, whichever Client compiled them.
TEST_P(CollectivePrograms, ProgramsOfOneDeviceRunOnTheirDevice) {
  const auto options = cts::Value(CompileOptions(clients_[0]->plugin().path(), ""));
  const char* const twice =
      "module @twice { func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { %y = stablehlo.add %x, %x : tensor<4xf32> "
      "return %y : tensor<4xf32> } }";
  const auto compiled = cts::Value(clients_[0]->CompileText(twice, options));
  ASSERT_NE(nullptr, compiled);
  const std::string bytes = cts::Value(compiled->Serialize());
  for (const std::unique_ptr<Client>& client : clients_) {
    const auto loaded = cts::Value(client->Load(bytes));
    ASSERT_NE(nullptr, loaded);
    const float source[4] = {1, 2, 3, 4};
    const BufferHandle argument = cts::Value(client->ToDevice(source, sizeof(source), nullptr));
    PJRT_Buffer* arguments[] = {argument.get()};
    PJRT_Buffer* result = nullptr;
    const Event end = cts::Value(Execute(*loaded, client->plugin(), arguments, {}, absl::MakeSpan(&result, 1)));
    ASSERT_NE(nullptr, result);
    const BufferHandle owned(result, Deleter<PJRT_Buffer>{&client->plugin()});
    float sums[4] = {};
    EXPECT_OK(end.Await());
    EXPECT_OK(cts::Value(client->ToHost(result, sums, sizeof(sums))).Await());
    EXPECT_EQ(8, sums[3]);
  }
}

class CountingStore final : public KeyValueStore {
 public:
  explicit CountingStore(std::atomic<int>* calls) : calls_(*calls) {}
  absl::StatusOr<std::string> Get(absl::string_view, std::chrono::milliseconds) override { return Missing(); }
  absl::StatusOr<std::string> TryGet(absl::string_view) override { return Missing(); }
  absl::Status Put(absl::string_view, absl::string_view) override { return Missing(); }

 private:
  absl::Status Missing() {
    ++calls_;
    return absl::NotFoundError("no key");
  }

  std::atomic<int>& calls_;
};

// Clients of CPU plugins ignore the other processes, so a job of several processes needs cards. If this test fails, CPU
// plugins can prove such jobs.
TEST_P(CollectivePrograms, CpuPluginsHaveNoCollectivesBetweenProcesses) {
  std::atomic<int> calls{0};
  std::vector<std::unique_ptr<Client>> processes;
  for (int64_t process = 0; process < 2; ++process) {
    processes.push_back(
        cts::Value(Client::Create(clients_[0]->plugin(), {{"cpu_device_count", int64_t{1}}, {"process_id", process}},
                                  std::make_unique<CountingStore>(&calls))));
    ASSERT_NE(nullptr, processes.back());
  }
  EXPECT_EQ(0, calls);
}

// Names of the instructions of all computations of a serialised xla::HloModuleProto.
std::set<std::string> Opcodes(const std::string& program) {
  xla::HloModuleProto module;
  EXPECT_TRUE(module.ParseFromString(program));
  std::set<std::string> opcodes;
  for (const xla::HloComputationProto& computation : module.computations()) {
    for (const xla::HloInstructionProto& instruction : computation.instructions()) opcodes.insert(instruction.opcode());
  }
  return opcodes;
}

// Two H100 in two processes, which need not be present: the plugin compiles calls of NCCL for collective instructions.
TEST(CollectiveProgramsForCards, StayCollectivesAfterThePluginsPasses) {
  const char* const chosen = std::getenv("HPU_TEST_CUDA_PLUGIN");
  const std::string file =
      chosen != nullptr ? chosen
                        : absl::StrCat(CTS_PACKAGES, "/../../../card-plugin/jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  if (access(file.c_str(), R_OK) != 0) GTEST_SKIP() << "needs jax-cuda13-pjrt: " << file << " is not installed";
  const auto plugin = Plugin::Load(file);
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  const Target target = FindTarget("h100").value();
  const auto topology = cts::Value(
      Topology::Create(**plugin, "cuda", {{"target_config", target.description}, {"topology", std::string("1x2x1")}}));
  ASSERT_NE(nullptr, topology);
  // The setting of CompileOptions for a client of several processes.
  EXPECT_OK(topology->TryOptions(
      OptionsOf({{"xla_gpu_shard_autotuning", {"false", XlaSetting::Source::kPackage, true}}}).SerializeAsString()));
  const std::string options = cts::Value(CollectiveCompileOptions(file, {0, 1}));
  for (const auto& [kind, opcode] :
       {std::pair(Kind::kAllReduce, "all-reduce"), std::pair(Kind::kReduceScatter, "reduce-scatter"),
        std::pair(Kind::kAllGather, "all-gather"), std::pair(Kind::kBroadcast, "all-reduce")}) {
    for (const auto dtype : {hal::DataType::kFloat32, hal::DataType::kBFloat16}) {
      const std::string program = CollectiveProgram(Of(kind, dtype, hal::ReduceOp::kAverage), 2);
      const std::set<std::string> opcodes = Opcodes(cts::Value(topology->OptimizeText(program, options)));
      EXPECT_TRUE(opcodes.count(opcode) + opcodes.count(absl::StrCat(opcode, "-start")) > 0)
          << program << absl::StrJoin(opcodes, " ");
    }
  }
}

constexpr char kOld[] = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";
constexpr char kNew[] = "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so";

INSTANTIATE_TEST_SUITE_P(Plugins, CollectivePrograms,
                         testing::Values(Setup{"pjrt_0_81_of_2", kOld, 2}, Setup{"pjrt_0_81_of_4", kOld, 4},
                                         Setup{"pjrt_0_115_of_2", kNew, 2}, Setup{"pjrt_0_115_of_4", kNew, 4}),
                         [](const testing::TestParamInfo<Setup>& info) { return info.param.name; });

}  // namespace collective_programs_test
}  // namespace hpu::pjrt
