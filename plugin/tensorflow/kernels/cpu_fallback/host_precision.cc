#include "plugin/tensorflow/kernels/cpu_fallback/host_precision.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::DataTypeVector;
using tensorflow::FunctionDef;
using tensorflow::NodeDef;
using tensorflow::OpDef;

bool IsRegisteredOnCpu(const NodeDef& node) {
  return tensorflow::KernelDefAvailable(tensorflow::DeviceType("CPU"), node);
}

// Returns a copy of the node whose bfloat16 attributes are float32.
NodeDef InFloat32(const NodeDef& node) {
  NodeDef wide = node;
  for (auto& [name, value] : *wide.mutable_attr()) {
    if (value.value_case() == tensorflow::AttrValue::kType && value.type() == tensorflow::DT_BFLOAT16) {
      value.set_type(tensorflow::DT_FLOAT);
    }
  }
  return wide;
}

bool IsWidened(const NodeDef& node) { return !IsRegisteredOnCpu(node) && IsRegisteredOnCpu(InFloat32(node)); }

// Appends a cast and returns the name of its result.
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

// Whether the op is an optimizer update. All variables of such an op have the op's type T.
bool UpdatesVariables(const NodeDef& node) {
  return absl::StartsWith(node.op(), "ResourceApply") || absl::StartsWith(node.op(), "ResourceSparseApply");
}

// Control edges from the sources of all inputs of the node. Includes data inputs, because they may order the node after
// another update.
std::vector<std::string> ControlsOf(const NodeDef& node) {
  std::vector<std::string> controls;
  for (const std::string& input : node.input()) {
    if (absl::StartsWith(input, "^")) {
      controls.push_back(input);
    } else if (const size_t colon = input.find(':'); colon != std::string::npos) {  // no colon: an argument
      controls.push_back(absl::StrCat("^", input.substr(0, colon)));
    }
  }
  return controls;
}

// Appends a node with an attribute `dtype`, and returns the name of a control edge from the node.
std::string AddVariableOp(FunctionDef* function, const char* op, const std::string& name,
                          const std::vector<std::string>& inputs, DataType dtype) {
  NodeDef* node = function->add_node_def();
  node->set_name(name);
  node->set_op(op);
  for (const std::string& input : inputs) node->add_input(input);
  tensorflow::AddNodeAttr("dtype", dtype, node);
  return absl::StrCat("^", name);
}

// Appends a read of `variable` that runs after the nodes in `after`. Returns the name of the value.
std::string AddRead(FunctionDef* function, const std::string& name, const std::string& variable, DataType dtype,
                    std::vector<std::string> after) {
  after.insert(after.begin(), variable);
  AddVariableOp(function, "ReadVariableOp", name, after, dtype);
  return absl::StrCat(name, ":value:0");
}

// Appends a float32 variable that is private to this execution, and returns the name of its handle.
std::string AddVariable(FunctionDef* function, const std::string& name) {
  AddVariableOp(function, "VarHandleOp", name, {}, tensorflow::DT_FLOAT);
  NodeDef* variable = function->mutable_node_def(function->node_def_size() - 1);
  tensorflow::AddNodeAttr("shape", tensorflow::PartialTensorShape(), variable);
  tensorflow::AddNodeAttr("shared_name", tensorflow::ResourceHandle::ANONYMOUS_NAME, variable);
  return absl::StrCat(name, ":resource:0");
}

std::string AddDestroy(FunctionDef* function, const std::string& name, const std::string& variable,
                       const std::string& after) {
  NodeDef* node = function->add_node_def();
  node->set_name(name);
  node->set_op("DestroyResourceOp");
  node->add_input(variable);
  node->add_input(after);
  return absl::StrCat("^", name);
}

class Widening {
 public:
  explicit Widening(FunctionDef* function) : function_(function) {}

  void Run() {
    const int nodes = function_->node_def_size();  // nodes added below need no change
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
    // A function call is not a registered op.
    if (!tensorflow::OpRegistry::Global()->LookUpOpDef(original.op(), &op).ok() || IsRegisteredOnCpu(original)) return;
    const NodeDef wide = InFloat32(original);
    DataTypeVector inputs, outputs, wide_inputs, wide_outputs;
    if (!IsRegisteredOnCpu(wide) || !tensorflow::InOutTypesForNode(original, *op, &inputs, &outputs).ok() ||
        !tensorflow::InOutTypesForNode(wide, *op, &wide_inputs, &wide_outputs).ok()) {
      return;
    }
    if (absl::c_linear_search(inputs, tensorflow::DT_RESOURCE)) {
      if (UpdatesVariables(original) && outputs.empty()) WidenUpdate(original, wide, inputs, wide_inputs);
      return;  // other ops with resource inputs stay unchanged
    }
    *function_->mutable_node_def(index) = wide;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == wide_inputs[i]) continue;
      const std::string cast = AddCast(function_, absl::StrCat(original.name(), "/wide_", i),
                                       original.input(static_cast<int>(i)), inputs[i], wide_inputs[i]);
      *function_->mutable_node_def(index)->mutable_input(static_cast<int>(i)) = cast;
    }
    CastBack(wide, *op, outputs, wide_outputs);
  }

  // Rewrites an optimizer update to run on temporary float32 variables and to write the results back to the bfloat16
  // variables.
  void WidenUpdate(const NodeDef& original, NodeDef wide, const DataTypeVector& inputs,
                   const DataTypeVector& wide_inputs) {
    const std::string& name = original.name();
    const std::vector<std::string> before = ControlsOf(original);
    wide.set_name(absl::StrCat(name, "/wide"));
    NodeDef done;  // keeps the name, so that control successors wait for the whole update
    done.set_name(name);
    done.set_op("NoOp");
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string input = original.input(static_cast<int>(i));
      if (inputs[i] == wide_inputs[i] && inputs[i] != tensorflow::DT_RESOURCE) continue;
      const auto part = [&](const char* what) { return absl::StrCat(name, "/", what, "_", i); };
      std::string* const wide_input = wide.mutable_input(static_cast<int>(i));
      if (inputs[i] != tensorflow::DT_RESOURCE) {
        *wide_input = AddCast(function_, part("wide"), input, inputs[i], wide_inputs[i]);
        continue;
      }
      const std::string value = AddRead(function_, part("read"), input, tensorflow::DT_BFLOAT16, before);
      const std::string wide_value =
          AddCast(function_, part("wide"), value, tensorflow::DT_BFLOAT16, tensorflow::DT_FLOAT);
      *wide_input = AddVariable(function_, part("variable"));
      wide.add_input(
          AddVariableOp(function_, "AssignVariableOp", part("fill"), {*wide_input, wide_value}, tensorflow::DT_FLOAT));
      const std::string result =
          AddRead(function_, part("result"), *wide_input, tensorflow::DT_FLOAT, {absl::StrCat("^", wide.name())});
      const std::string narrow =
          AddCast(function_, part("narrow"), result, tensorflow::DT_FLOAT, tensorflow::DT_BFLOAT16);
      done.add_input(
          AddVariableOp(function_, "AssignVariableOp", part("assign"), {input, narrow}, tensorflow::DT_BFLOAT16));
      done.add_input(AddDestroy(function_, part("destroy"), *wide_input, absl::StrCat("^", part("result"))));
    }
    *function_->add_node_def() = wide;
    for (NodeDef& node : *function_->mutable_node_def()) {
      if (node.name() == name) node = done;
    }
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
  absl::flat_hash_map<std::string, std::string> casts_;  // outputs of casts to bfloat16, by the float32 output
  absl::flat_hash_set<std::string> backs_;               // names of casts to bfloat16
};

}  // namespace

bool HasCpuKernelInFloat32Only(const NodeDef& node) { return IsWidened(node); }

void ToHostPrecision(FunctionDef* function) { Widening(function).Run(); }

}  // namespace hpu
