#include "plugin/backends/pjrt/collective_programs.h"

#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/base/status_macros.h"
#include "xla/pjrt/proto/compile_options.pb.h"

namespace hpu::pjrt {
namespace {

using Kind = common::Collective::Kind;

// Element type of a reduction, as StableHLO writes it.
const char* ElementType(hal::DataType dtype) {
  switch (dtype) {
    case hal::DataType::kFloat32:
      return "f32";
    case hal::DataType::kFloat64:
      return "f64";
    case hal::DataType::kBFloat16:
      return "bf16";
    case hal::DataType::kFloat16:
      return "f16";
    case hal::DataType::kInt8:
      return "i8";
    case hal::DataType::kInt16:
      return "i16";
    case hal::DataType::kInt32:
      return "i32";
    case hal::DataType::kInt64:
      return "i64";
    case hal::DataType::kUInt16:
      return "ui16";
    case hal::DataType::kUInt32:
      return "ui32";
    case hal::DataType::kUInt64:
      return "ui64";
    default:
      return "ui8";
  }
}

const char* Operation(hal::ReduceOp op) {
  switch (op) {
    case hal::ReduceOp::kSum:
    case hal::ReduceOp::kAverage:
      return "add";
    case hal::ReduceOp::kProduct:
      return "multiply";
    case hal::ReduceOp::kMin:
      return "minimum";
    case hal::ReduceOp::kMax:
      return "maximum";
  }
  return "add";
}

bool IsReduction(Kind kind) { return kind == Kind::kAllReduce || kind == Kind::kReduceScatter; }

std::string Array(uint64_t elements, absl::string_view type) {
  return absl::StrCat("tensor<", elements, "x", type, ">");
}

// The ranks as one replica group.
std::string ReplicaGroup(int ranks) {
  std::vector<int> group(ranks);
  std::iota(group.begin(), group.end(), 0);
  return absl::StrCat("replica_groups = dense<[[", absl::StrJoin(group, ", "), "]]> : tensor<1x", ranks, "xi64>");
}

// The region that reduces two elements.
std::string Reducer(hal::ReduceOp op, absl::string_view type) {
  return absl::Substitute(
      "({ ^bb0(%a: tensor<$0>, %b: tensor<$0>): %c = stablehlo.$1 %a, %b : tensor<$0> stablehlo.return %c : "
      "tensor<$0> })",
      type, Operation(op));
}

}  // namespace

std::string CollectiveProgram(const common::Collective& collective, int ranks) {
  const bool reduces = IsReduction(collective.kind);
  const std::string type = reduces ? ElementType(collective.dtype) : "ui8";
  const uint64_t count = collective.elements.count * (reduces ? 1 : hal::SizeOf(collective.dtype));
  const bool scatters = collective.kind == Kind::kReduceScatter;
  const std::string source = Array(scatters ? count * ranks : count, type);
  const std::string result = Array(collective.kind == Kind::kAllGather ? count * ranks : count, type);
  const std::string group = ReplicaGroup(ranks);
  const std::string signature = absl::StrCat(" : (", source, ") -> ", result, "\n");
  std::string masked;  // the operand of a broadcast
  std::string body;
  switch (collective.kind) {
    case Kind::kAllReduce:
      body = absl::StrCat("\"stablehlo.all_reduce\"(%x) ", Reducer(collective.op, type), " {", group, "}", signature);
      break;
    case Kind::kReduceScatter:
      body = absl::StrCat("\"stablehlo.reduce_scatter\"(%x) ", Reducer(collective.op, type), " {", group,
                          ", scatter_dimension = 0 : i64}", signature);
      break;
    case Kind::kAllGather:
      body = absl::StrCat("\"stablehlo.all_gather\"(%x) {", group, ", all_gather_dim = 0 : i64}", signature);
      break;
    case Kind::kBroadcast:
      // CPU plugins do not support collective_broadcast. So the root adds its elements to zeros of the other ranks.
      body = absl::StrCat("\"stablehlo.all_reduce\"(%z) ", Reducer(hal::ReduceOp::kSum, type), " {", group, "}",
                          signature);
      masked = absl::Substitute(
          "%id = stablehlo.replica_id : tensor<ui32>\n%root = stablehlo.constant dense<$0> : tensor<ui32>\n"
          "%p = stablehlo.compare EQ, %id, %root : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\n"
          "%zeros = stablehlo.constant dense<0> : $1\n"
          "%z = stablehlo.select %p, %x, %zeros : tensor<i1>, $1\n",
          collective.root, source);
      break;
  }
  std::string average;
  if (reduces && collective.op == hal::ReduceOp::kAverage) {
    const bool is_float = type[0] == 'f' || type[0] == 'b';
    average = absl::Substitute("%n = stablehlo.constant dense<$0> : $1 %q = stablehlo.divide %y, %n : $1\n",
                               absl::StrCat(ranks, is_float ? ".0" : ""), result);
  }
  return absl::Substitute(
      "module @collective attributes {mhlo.num_replicas = $0 : i32} {\nfunc.func @main(%x: $1) -> $2 {\n"
      "$3%y = $4$5return $6 : $2\n} }",
      ranks, source, result, masked, body, average, average.empty() ? "%y" : "%q");
}

absl::StatusOr<std::string> CollectiveCompileOptions(absl::string_view plugin_file, absl::Span<const int64_t> devices) {
  HPU_ASSIGN_OR_RETURN(const std::string serialized, CompileOptions(plugin_file, /*hlo=*/""));
  xla::CompileOptionsProto options;
  options.ParseFromString(serialized);
  xla::ExecutableBuildOptionsProto& build = *options.mutable_executable_build_options();
  build.set_num_replicas(static_cast<int64_t>(devices.size()));
  xla::DeviceAssignmentProto& assignment = *build.mutable_device_assignment();
  assignment.set_replica_count(static_cast<int32_t>(devices.size()));
  assignment.set_computation_count(1);
  xla::DeviceAssignmentProto::ComputationDevice& computation = *assignment.add_computation_devices();
  for (const int64_t device : devices) computation.add_replica_device_ids(device);
  return options.SerializeAsString();
}

}  // namespace hpu::pjrt
