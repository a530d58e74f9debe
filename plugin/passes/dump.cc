#include "plugin/passes/dump.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/util/dump_graph.h"

namespace hpu::passes {

void DumpAfter(const PassContext& context, int level, int number, std::string_view pass) {
  if (context.settings.dump_level < level) return;
  const std::string name = absl::StrCat("hpu_", context.graph_name, "_", number, "_", pass);
  const std::string path =
      tensorflow::DumpGraphToFile(name, **context.graph, context.library, context.settings.dump_directory);
  VLOG(1) << "graph after " << pass << ": " << path;
}

}  // namespace hpu::passes
