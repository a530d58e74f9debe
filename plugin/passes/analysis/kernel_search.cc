#include "plugin/passes/analysis/kernel_search.h"

#include "absl/algorithm/container.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu::passes {
namespace {

using tensorflow::AttrSlice;
using tensorflow::FunctionDef;
using tensorflow::NameAttrList;
using tensorflow::NodeDef;

bool IsRegistered(const NodeDef& node, const std::string& device) {
  return tensorflow::KernelDefAvailable(tensorflow::DeviceType(device), node);
}

}  // namespace

const tensorflow::KernelDef* FindKernel(const std::string& device, const NodeDef& node, std::string* class_name) {
  if (!IsRegistered(node, device)) return nullptr;
  const tensorflow::KernelDef* kernel = nullptr;
  const auto found = tensorflow::FindKernelDef(tensorflow::DeviceType(device), node, &kernel, class_name);
  return found.ok() ? kernel : nullptr;
}

KernelSearch::KernelSearch(const tensorflow::FunctionLibraryDefinition& library, bool or_lowering)
    : library_(library), compiler_(or_lowering ? CompilationDevice() : "") {}

bool KernelSearch::Finds(const NodeDef& node) {
  if (library_.Find(node.op()) != nullptr) return FindsIn(node.op());
  return HasKernel(node) && FindsCallees(AttrSlice(node));
}

bool KernelSearch::FindsCallees(AttrSlice attrs) {
  return absl::c_all_of(attrs, [&](const auto& attr) {
    const tensorflow::AttrValue& value = attr.second;
    if (value.has_func() && !FindsIn(value.func().name())) return false;
    return absl::c_all_of(value.list().func(), [&](const NameAttrList& callee) { return FindsIn(callee.name()); });
  });
}

bool KernelSearch::FindsIn(const std::string& function) {
  const FunctionDef* const found = library_.Find(function);
  if (found == nullptr || found->signature().attr_size() > 0 || !seen_.insert(function).second) return true;
  return absl::c_all_of(found->node_def(), [&](const NodeDef& node) { return Finds(node); });
}

bool KernelSearch::HasKernel(const NodeDef& node) const {
  return IsRegistered(node, kDeviceType) || (!compiler_.empty() && IsRegistered(node, compiler_));
}

}  // namespace hpu::passes
