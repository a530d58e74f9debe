#include "plugin/passes/analysis/index_bounds.h"

#include <string>

#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

constexpr const char* kNames[] = {"index",  "slice",       "box",     "vector",       "label",           "segment",
                                  "length", "permutation", "element", "list_element", "written_element", "begin"};

std::optional<IndexKind> KindNamed(const std::string& name) {
  int kind = 0;
  for (const char* known : kNames) {
    if (name == known) return static_cast<IndexKind>(kind);
    ++kind;
  }
  return std::nullopt;
}

std::optional<IndexBound> BoundInAttributes(const tensorflow::Node& node) {
  std::string name;
  int64_t axis = 0;
  if (!tensorflow::TryGetNodeAttr(node.attrs(), "kind", &name) ||
      !tensorflow::TryGetNodeAttr(node.attrs(), "axis", &axis)) {
    return std::nullopt;
  }
  const std::optional<IndexKind> kind = KindNamed(name);
  return kind.has_value() ? std::make_optional(IndexBound{*kind, axis}) : std::nullopt;
}

}  // namespace

const char* NameOf(IndexKind kind) { return kNames[static_cast<int>(kind)]; }

std::optional<IndexBound> BoundOfIndices(const tensorflow::Node& node, const IndexedOp& op) {
  if (node.type_string() == kInnerIndicesOp) return BoundInAttributes(node);
  if (op.kind == IndexKind::kLabel) return IndexBound{op.kind, -1};
  if (op.axis == nullptr) return IndexBound{op.kind, 0};
  int64_t attribute = 0;
  if (tensorflow::TryGetNodeAttr(node.attrs(), op.axis, &attribute)) return IndexBound{op.kind, attribute};
  const std::optional<tensorflow::Tensor> axis = ConstantOf(*InputOf(node, 2).node);
  if (!axis.has_value() || axis->NumElements() != 1) return std::nullopt;
  return IndexBound{op.kind, ScalarOf(*axis)};
}

bool IsIndexType(tensorflow::DataType type) { return type == tensorflow::DT_INT32 || type == tensorflow::DT_INT64; }

int64_t ScalarOf(const tensorflow::Tensor& value) {
  return value.dtype() == tensorflow::DT_INT64 ? value.flat<int64_t>()(0) : value.flat<int32_t>()(0);
}

}  // namespace hpu::passes
