#include "plugin/compiler/crash_report.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/containment/contained_call.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu {
namespace {

constexpr size_t kMaxNamedOps = 12;

// The op types of a function except Const, Identity and NoOp; at most kMaxNamedOps names.
std::string OpTypes(const tensorflow::FunctionDef& function) {
  std::set<std::string> types;
  for (const tensorflow::NodeDef& node : function.node_def()) {
    if (node.op() != "Const" && node.op() != "Identity" && node.op() != "NoOp") types.insert(node.op());
  }
  if (types.size() <= kMaxNamedOps) return absl::StrJoin(types, ", ");
  auto end = types.begin();
  std::advance(end, kMaxNamedOps);
  return absl::StrCat(absl::StrJoin(types.begin(), end, ", "), " and ", types.size() - kMaxNamedOps, " more types");
}

std::string DescribeOps(const ClusterSource& source) {
  if (source.node != nullptr) return absl::StrCat("op ", tensorflow::SummarizeNodeDef(*source.node));
  const tensorflow::FunctionDef* function = source.library->Find(source.function.name());
  return function == nullptr ? "" : absl::StrCat("ops ", OpTypes(*function));
}

}  // namespace

absl::Status ExplainCrash(const ClusterSource& source, absl::Status status) {
  if (!containment::IsCrash(status)) return status;
  return absl::InternalError(absl::StrCat("the compiler crashed while ", status.message(), "; ", DescribeOps(source),
                                          ". To keep the failing op on the CPU, set TF_PLACE_ON_CPU=<op type>"));
}

}  // namespace hpu
