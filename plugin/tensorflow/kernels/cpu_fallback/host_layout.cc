#include "plugin/tensorflow/kernels/cpu_fallback/host_layout.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"

namespace hpu {
namespace {

using tensorflow::NodeDef;

std::vector<int> ToLast(int rank) { return rank == 5 ? std::vector<int>{0, 2, 3, 4, 1} : std::vector<int>{0, 2, 3, 1}; }
std::vector<int> ToFirst(int rank) {
  return rank == 5 ? std::vector<int>{0, 4, 1, 2, 3} : std::vector<int>{0, 3, 1, 2};
}

class Rewriter {
 public:
  explicit Rewriter(tensorflow::FunctionDef* function) : function_(function) {}

  void Run() {
    const int nodes = function_->node_def_size();  // nodes added below need no conversion
    for (int i = 0; i < nodes; ++i) {
      if (IsChannelsFirst(function_->node_def(i))) Rewrite(i);
    }
    // Redirects the consumers of a rewritten output to its channels-first copy, except the transpose that computes the
    // copy.
    for (int i = 0; i < function_->node_def_size(); ++i) {
      NodeDef* node = function_->mutable_node_def(i);
      if (copies_.contains(node->name())) continue;
      for (std::string& input : *node->mutable_input()) Redirect(&input);
    }
    for (auto& result : *function_->mutable_ret()) Redirect(&result.second);
  }

 private:
  void Rewrite(int index) {
    const NodeDef original = function_->node_def(index);
    const FeatureMaps& maps = *FactsOf(original.op()).feature_maps;
    const int rank = original.attr().at("data_format").s() == "NCDHW" ? 5 : 4;
    const tensorflow::DataType dtype = original.attr().at("T").type();
    const std::string& name = original.name();
    std::vector<std::string> inputs(original.input().begin(), original.input().end());
    for (int i : maps.arrays) {
      inputs[i] = AddTranspose(absl::StrCat(name, "/last_", i), inputs[i], dtype, ToLast(rank));
    }
    for (int i : maps.shapes) inputs[i] = AddGather(absl::StrCat(name, "/last_", i), inputs[i], ToLast(rank));
    NodeDef* node = function_->mutable_node_def(index);
    for (size_t i = 0; i < inputs.size(); ++i) *node->mutable_input(i) = inputs[i];
    PermuteAttributes(node, rank);
    if (maps.output == nullptr) return;
    const std::string output = absl::StrCat(name, ":", maps.output, ":0");
    const std::string copy = absl::StrCat(name, "/first");
    redirected_[output] = AddTranspose(copy, output, dtype, ToFirst(rank));
    copies_[copy] = true;
  }

  static void PermuteAttributes(NodeDef* node, int rank) {
    auto& attributes = *node->mutable_attr();
    attributes["data_format"].set_s(rank == 5 ? "NDHWC" : "NHWC");
    for (const char* name : {"strides", "ksize", "dilations"}) {
      const auto it = attributes.find(name);
      if (it == attributes.end() || it->second.list().i_size() != rank) continue;
      const auto before = it->second.list().i();
      for (int i = 0; i < rank; ++i) it->second.mutable_list()->set_i(i, before[ToLast(rank)[i]]);
    }
    const auto paddings = attributes.find("explicit_paddings");
    if (paddings == attributes.end() || paddings->second.list().i_size() != 2 * rank) return;
    const auto before = paddings->second.list().i();
    for (int i = 0; i < rank; ++i) {
      for (int side : {0, 1}) {
        paddings->second.mutable_list()->set_i(2 * i + side, before[2 * ToLast(rank)[i] + side]);
      }
    }
  }

  std::string AddConstant(const std::string& name, const tensorflow::Tensor& value) {
    NodeDef* node = function_->add_node_def();
    node->set_name(name);
    node->set_op("Const");
    tensorflow::AddNodeAttr("dtype", value.dtype(), node);
    tensorflow::AddNodeAttr("value", value, node);
    return absl::StrCat(name, ":output:0");
  }

  std::string AddPermutation(const std::string& name, const std::vector<int>& permutation) {
    tensorflow::Tensor value(tensorflow::DT_INT32, tensorflow::TensorShape({static_cast<int64_t>(permutation.size())}));
    for (size_t i = 0; i < permutation.size(); ++i) value.flat<tensorflow::int32>()(i) = permutation[i];
    return AddConstant(name, value);
  }

  std::string AddTranspose(const std::string& name, const std::string& input, tensorflow::DataType dtype,
                           const std::vector<int>& permutation) {
    const std::string order = AddPermutation(absl::StrCat(name, "/permutation"), permutation);
    NodeDef* node = function_->add_node_def();
    node->set_name(name);
    node->set_op("Transpose");
    node->add_input(input);
    node->add_input(order);
    tensorflow::AddNodeAttr("T", dtype, node);
    tensorflow::AddNodeAttr("Tperm", tensorflow::DT_INT32, node);
    return absl::StrCat(name, ":y:0");
  }

  std::string AddGather(const std::string& name, const std::string& input, const std::vector<int>& permutation) {
    const std::string order = AddPermutation(absl::StrCat(name, "/permutation"), permutation);
    tensorflow::Tensor axis(tensorflow::DT_INT32, tensorflow::TensorShape());
    axis.scalar<tensorflow::int32>()() = 0;
    const std::string zero = AddConstant(absl::StrCat(name, "/axis"), axis);
    NodeDef* node = function_->add_node_def();
    node->set_name(name);
    node->set_op("GatherV2");
    for (const std::string& source : {input, order, zero}) node->add_input(source);
    for (const char* type : {"Tparams", "Tindices", "Taxis"}) tensorflow::AddNodeAttr(type, tensorflow::DT_INT32, node);
    return absl::StrCat(name, ":output:0");
  }

  void Redirect(std::string* input) const {
    const auto it = redirected_.find(*input);
    if (it != redirected_.end()) *input = it->second;
  }

  tensorflow::FunctionDef* const function_;
  absl::flat_hash_map<std::string, std::string> redirected_;
  absl::flat_hash_map<std::string, bool> copies_;  // transposes back to channels first, by name
};

}  // namespace

bool IsChannelsFirst(const NodeDef& node) {
  const auto format = node.attr().find("data_format");
  return format != node.attr().end() && (format->second.s() == "NCHW" || format->second.s() == "NCDHW") &&
         FactsOf(node.op()).feature_maps.has_value();
}

void ToChannelsLast(tensorflow::FunctionDef* function) { Rewriter(function).Run(); }

}  // namespace hpu
