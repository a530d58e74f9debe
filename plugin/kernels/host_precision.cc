#include "plugin/kernels/host_precision.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::DataTypeVector;
using tensorflow::FunctionDef;
using tensorflow::NodeDef;
using tensorflow::OpDef;

bool HasCpuKernel(const NodeDef& node) {
  return tensorflow::FindKernelDef(tensorflow::DeviceType("CPU"), node, nullptr, nullptr).ok();
}

// The node with float32 for bfloat16.
NodeDef InFloat32(const NodeDef& node) {
  NodeDef wide = node;
  for (auto& [name, value] : *wide.mutable_attr()) {
    if (value.value_case() == tensorflow::AttrValue::kType && value.type() == tensorflow::DT_BFLOAT16) {
      value.set_type(tensorflow::DT_FLOAT);
    }
  }
  return wide;
}

// Appends a cast and gives the name of its result.
std::string AddCast(FunctionDef* function, const std::string& name, const std::string& input, DataType from,
                    DataType to) {
  NodeDef* cast = function->add_node_def();
  cast->set_name(name);
  cast->set_op("Cast");
  cast->add_input(input);
  tensorflow::AddNodeAttr("SrcT", from, cast);
  tensorflow::AddNodeAttr("DstT", to, cast);
  return absl::StrCat(name, ":y:0");
}

class Widening {
 public:
  explicit Widening(FunctionDef* function) : function_(function) {}

  void Run() {
    const int nodes = function_->node_def_size();  // those added below need no change
    for (int i = 0; i < nodes; ++i) Visit(i);
    if (casts_.empty()) return;
    for (NodeDef& node : *function_->mutable_node_def()) {
      if (backs_.contains(node.name())) continue;
      for (std::string& input : *node.mutable_input()) Redirect(&input);
    }
    for (auto& result : *function_->mutable_ret()) Redirect(&result.second);
  }

 private:
  void Visit(int index) {
    const NodeDef original = function_->node_def(index);
    const OpDef* op = nullptr;
    // Calls of functions are no ops.
    if (!tensorflow::OpRegistry::Global()->LookUpOpDef(original.op(), &op).ok() || HasCpuKernel(original)) return;
    const NodeDef wide = InFloat32(original);
    DataTypeVector inputs, outputs, wide_inputs, wide_outputs;
    if (!HasCpuKernel(wide) || !tensorflow::InOutTypesForNode(original, *op, &inputs, &outputs).ok() ||
        !tensorflow::InOutTypesForNode(wide, *op, &wide_inputs, &wide_outputs).ok()) {
      return;
    }
    if (absl::c_linear_search(inputs, tensorflow::DT_RESOURCE)) return;  // a variable keeps its type
    *function_->mutable_node_def(index) = wide;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == wide_inputs[i]) continue;
      const std::string cast = AddCast(function_, absl::StrCat(original.name(), "/wide_", i),
                                       original.input(static_cast<int>(i)), inputs[i], wide_inputs[i]);
      *function_->mutable_node_def(index)->mutable_input(static_cast<int>(i)) = cast;
    }
    CastBack(wide, *op, outputs, wide_outputs);
  }

  void CastBack(const NodeDef& wide, const OpDef& op, const DataTypeVector& outputs,
                const DataTypeVector& wide_outputs) {
    tensorflow::NameRangeMap ranges;
    if (!tensorflow::NameRangesForNode(wide, op, nullptr, &ranges).ok()) return;
    for (const auto& [argument, range] : ranges) {
      for (int i = range.first; i < range.second; ++i) {
        if (outputs[i] == wide_outputs[i]) continue;
        const std::string output = absl::StrCat(wide.name(), ":", argument, ":", i - range.first);
        const std::string name = absl::StrCat(wide.name(), "/narrow_", i);
        casts_[output] = AddCast(function_, name, output, wide_outputs[i], outputs[i]);
        backs_.insert(name);
      }
    }
  }

  void Redirect(std::string* input) const {
    const auto found = casts_.find(*input);
    if (found != casts_.end()) *input = found->second;
  }

  FunctionDef* const function_;
  absl::flat_hash_map<std::string, std::string> casts_;  // bfloat16 results, by the float32 ones that they are made of
  absl::flat_hash_set<std::string> backs_;               // names of the nodes that make them
};

}  // namespace

void ToHostPrecision(FunctionDef* function) { Widening(function).Run(); }

}  // namespace hpu
