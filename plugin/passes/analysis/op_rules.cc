#include "plugin/passes/analysis/op_rules.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using OpSet = absl::flat_hash_set<std::string_view>;

// Ops that report errors or print. Compiled code can do neither, so their effect would be lost.
const OpSet& RaisingOps() {
  static const auto* ops =
      new OpSet({"Abort", "Assert", "CheckNumerics", "CheckNumericsV2", "Print", "PrintV2", "SparseToDense"});
  return *ops;
}

const OpSet& DynamicSizeOps() {
  static const auto* ops = new OpSet({"Where", "UniqueV2", "UniqueWithCounts", "DynamicPartition",
                                      "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5",
                                      "XlaSetBound", "XlaSetDynamicDimensionSize", "XlaRemoveDynamicDimensionSize"});
  return *ops;
}

const OpSet& StatefulRandomOps() {
  static const auto* ops =
      new OpSet({"Multinomial", "ParameterizedTruncatedNormal", "RandomGamma", "RandomPoisson", "RandomPoissonV2",
                 "RandomShuffle", "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal"});
  return *ops;
}

// Ops that draw different numbers under XLA than on the CPU. random_pass.h replaces some of them.
const OpSet& DifferingRandomOps() {
  static const auto* ops = new OpSet({"StatefulStandardNormalV2",
                                      "StatefulTruncatedNormal",
                                      "StatefulUniform",
                                      "StatefulUniformFullInt",
                                      "StatefulUniformInt",
                                      "StatelessMultinomial",
                                      "StatelessParameterizedTruncatedNormal",
                                      "StatelessRandomBinomial",
                                      "StatelessRandomGammaV2",
                                      "StatelessRandomGammaV3",
                                      "StatelessRandomGetAlg",
                                      "StatelessRandomGetKeyCounter",
                                      "StatelessRandomGetKeyCounterAlg",
                                      "StatelessRandomNormal",
                                      "StatelessRandomNormalV2",
                                      "StatelessRandomPoisson",
                                      "StatelessRandomUniform",
                                      "StatelessRandomUniformFullInt",
                                      "StatelessRandomUniformInt",
                                      "StatelessRandomUniformV2",
                                      "StatelessShuffle",
                                      "StatelessTruncatedNormal",
                                      "StatelessTruncatedNormalV2"});
  return *ops;
}

std::optional<OpRefusal> RefuseByTypes(const tensorflow::Node& node) {
  for (const tensorflow::DataType type : node.input_types()) {
    if (tensorflow::IsRefType(type)) return OpRefusal{"reference", "takes a reference variable, not a resource"};
    if (type == tensorflow::DT_STRING) return OpRefusal{"string", "takes strings, which the device does not have"};
  }
  for (const tensorflow::DataType type : node.output_types()) {
    if (tensorflow::IsRefType(type)) return OpRefusal{"reference", "gives a reference variable, not a resource"};
    if (type == tensorflow::DT_STRING) return OpRefusal{"string", "gives strings, which the device does not have"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<OpRefusal> RefuseByOp(const tensorflow::Node& node) {
  const std::string& op = node.type_string();
  if (node.IsControlFlow() || node.IsLoopCond() || node.IsControlTrigger()) {
    return OpRefusal{"control-flow", "steers control flow in its lowered form; clusters form around it"};
  }
  if (op == kPhiloxStateOp || op == kRandomOrderOp || op == kCheckIndicesOp || op == kCheckRangeOp ||
      op == kCheckValuesOp)
    return OpRefusal{"host", "works on the host for the clusters"};
  if (op == "Placeholder") return OpRefusal{"border", "is fed by the caller"};
  if (node.IsSend() || node.IsRecv() || node.IsCollective() || absl::StartsWith(op, "Collective") ||
      absl::StartsWith(op, "HpuCollective")) {
    return OpRefusal{"communication", "waits for others: inside a cluster it could block the device"};
  }
  if (op == kLaunchOp || op == "XlaLaunch" || absl::StartsWith(op, "_Xla")) {
    return OpRefusal{"launch", "is a compiled cluster already"};
  }
  if (RaisingOps().contains(op)) {
    return OpRefusal{"lost-error", absl::StrCat(op, " raises errors or prints, which compiled code would not do")};
  }
  if (op == "ToBool" && tensorflow::DataTypeIsComplex(node.input_type(0))) {
    return OpRefusal{"lost-error", "a complex number is not a condition, but compiled code would accept it"};
  }
  if (DynamicSizeOps().contains(op)) {
    return OpRefusal{"dynamic-size", absl::StrCat("the size of ", op, "'s result depends on values")};
  }
  if (IsStatefulRandom(op)) {
    return OpRefusal{"random", absl::StrCat(op, " draws from state whose seeds compiled code would ignore")};
  }
  if (DifferingRandomOps().contains(op)) {
    return OpRefusal{"random", absl::StrCat(op, " draws other numbers in compiled code than on the CPU")};
  }
  return RefuseByTypes(node);
}

const IndexedOp* FindIndexedOp(std::string_view op) {
  using Kind = IndexedOp::Kind;
  // Gradients of ops whose own indices are checked. They need no check, so a loop that contains them can stay whole.
  constexpr bool kUnneeded = false;
  static const auto* ops = new absl::flat_hash_map<std::string_view, IndexedOp>({
      {"Gather", {1, 0, false, Kind::kSlice}},
      {"GatherV2", {1, 0, false, Kind::kSlice, "axis"}},
      {"GatherNd", {1, 0, false, Kind::kVector}},
      {"ResourceGather", {1, 0, true, Kind::kIndex, "batch_dims"}},
      {"ResourceGatherNd", {1, 0, true, Kind::kVector}},
      {"ResourceScatterAdd", {1, 0, true, Kind::kIndex}},
      {"ResourceScatterSub", {1, 0, true, Kind::kIndex}},
      {"ResourceScatterMul", {1, 0, true, Kind::kIndex}},
      {"ResourceScatterDiv", {1, 0, true, Kind::kIndex}},
      {"ResourceScatterMin", {1, 0, true, Kind::kIndex}},
      {"ResourceScatterMax", {1, 0, true, Kind::kIndex}},
      {"ResourceScatterUpdate", {1, 0, true, Kind::kIndex}},
      {"ResourceScatterNdAdd", {1, 0, true, Kind::kVector}},
      {"ResourceScatterNdSub", {1, 0, true, Kind::kVector}},
      {"ResourceScatterNdUpdate", {1, 0, true, Kind::kVector}},
      {"TensorScatterAdd", {1, 0, false, Kind::kVector}},
      {"TensorScatterSub", {1, 0, false, Kind::kVector}},
      {"TensorScatterMax", {1, 0, false, Kind::kVector}},
      {"TensorScatterMin", {1, 0, false, Kind::kVector}},
      {"TensorScatterUpdate", {1, 0, false, Kind::kVector}},
      {"CropAndResize", {2, 0, false, Kind::kBox}},
      {"CropAndResizeGradBoxes", {3, 1, false, Kind::kBox}},
      {"CropAndResizeGradImage", {2, 3, false, Kind::kBox, nullptr, /*sizes=*/true}},
      {"InvertPermutation", {0, 0, false, Kind::kPermutation, nullptr, false, kUnneeded}},
      {"ReverseSequence", {1, 0, false, Kind::kLength, "seq_dim", false, kUnneeded}},
      {"ScatterNd", {0, 2, false, Kind::kVector, nullptr, /*sizes=*/true, kUnneeded}},
      {"UnsortedSegmentMax", {1, 2, false, Kind::kSegment, nullptr, /*sizes=*/true, kUnneeded}},
      {"UnsortedSegmentMin", {1, 2, false, Kind::kSegment, nullptr, /*sizes=*/true, kUnneeded}},
      {"UnsortedSegmentProd", {1, 2, false, Kind::kSegment, nullptr, /*sizes=*/true, kUnneeded}},
      {"UnsortedSegmentSum", {1, 2, false, Kind::kSegment, nullptr, /*sizes=*/true, kUnneeded}},
      {"SparseSoftmaxCrossEntropyWithLogits", {1, 0, false, Kind::kLabel}},
  });
  const auto found = ops->find(op);
  return found == ops->end() ? nullptr : &found->second;
}

bool KeepsValues(const tensorflow::OutputTensor& tensor) {
  static const auto* ops =
      new OpSet({"Cast", "ExpandDims", "Identity", "Reshape", "Squeeze", "StopGradient", "Unique"});
  return tensor.index == 0 && ops->contains(tensor.node->type_string());
}

bool HasBoundedSize(std::string_view op) { return op == "Unique"; }

bool IsStatefulRandom(std::string_view op) { return StatefulRandomOps().contains(op); }

}  // namespace hpu::passes
