// Graph dumps: docs/user/logging.md.
#ifndef HPU_PLUGIN_PASSES_REPORTING_DUMP_H_
#define HPU_PLUGIN_PASSES_REPORTING_DUMP_H_

#include <string>
#include <string_view>

#include "plugin/passes/graph/settings.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// What HBN_TF_GRAPH_DUMP must be for a dump.
enum DumpLevel { kDumpResult = 1, kDumpAll = 2 };

// A graph under the name of its dumps: the graph's name, with _1, _2, … where this process has dumped other graphs of
// that name. `function` is the full name of the graph's function, which tells them apart; empty for a Session's graph.
std::string DumpLabel(const std::string& function, const std::string& graph_name);

// Writes a graph and its functions to <HBN_TF_GRAPH_PREFIX>hpu_<label>_<stage>.pbtxt under TF_DUMP_GRAPH_PREFIX if
// HBN_TF_GRAPH_DUMP asks for that level. Equal graphs give equal files. No file of this process is written twice: a
// graph that comes again gets _1, _2, … What fails is warned of once per directory. Thread safe.
void Dump(const Settings& settings, DumpLevel level, const std::string& label, std::string_view stage,
          const tensorflow::Graph& graph, const tensorflow::FunctionLibraryDefinition& library);

// The same under TF_GRAPPLER_GRAPH_DEF_PATH, where it is set; stage is before or after.
void DumpPair(const Settings& settings, const std::string& label, std::string_view stage,
              const tensorflow::Graph& graph, const tensorflow::FunctionLibraryDefinition& library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORTING_DUMP_H_
