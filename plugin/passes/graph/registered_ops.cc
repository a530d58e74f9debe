#include "plugin/passes/graph/registered_ops.h"

#include "absl/strings/str_cat.h"
#include "plugin/passes/graph/nearest_name.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {

void WarnIfNoOp(const std::string& where, const std::string& name, const std::vector<std::string>& words) {
  if (tensorflow::OpRegistry::Global()->LookUp(name) != nullptr) return;
  std::vector<std::string> names = words;
  tensorflow::OpList ops;
  tensorflow::OpRegistry::Global()->Export(/*include_internal=*/true, &ops);
  for (const tensorflow::OpDef& op : ops.op()) names.push_back(op.name());
  const std::string nearest = NearestName(name, names);
  LOG(WARNING) << where << ": unknown op type " << name
               << (nearest.empty() ? std::string("; correct or remove it")
                                   : absl::StrCat("; did you mean ", nearest, "?"));
}

}  // namespace hpu::passes
