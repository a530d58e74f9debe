// Graph dumps to files: docs/user/logging.md.
#ifndef HPU_PLUGIN_PASSES_REPORTING_DUMP_H_
#define HPU_PLUGIN_PASSES_REPORTING_DUMP_H_

#include <string>
#include <string_view>

#include "plugin/passes/graph/settings.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Values of HBN_TF_GRAPH_DUMP that enable a dump.
enum DumpLevel { kDumpResult = 1, kDumpAll = 2 };

// The label of a graph in file names: the graph's name, with _1, _2, … appended if other graphs in this process have
// the same name. `function` is the full name of the graph's function, which distinguishes such graphs; empty for a
// Session's graph.
std::string DumpLabel(const std::string& function, const std::string& graph_name);

// If HBN_TF_GRAPH_DUMP enables `level`, writes a graph and its functions to
// <HBN_TF_GRAPH_PREFIX>hpu_<label>_<stage>.pbtxt in the directory TF_DUMP_GRAPH_PREFIX. Equal graphs produce equal
// files. Appends _1, _2, … to repeated names, so a process does not overwrite its own files. After failures, logs one
// warning per directory. Thread safe.
void Dump(const Settings& settings, DumpLevel level, const std::string& label, std::string_view stage,
          const tensorflow::Graph& graph, const tensorflow::FunctionLibraryDefinition& library);

// Like Dump, but writes to the directory TF_GRAPPLER_GRAPH_DEF_PATH and ignores HBN_TF_GRAPH_DUMP. Does nothing if the
// directory is unset. `stage` is "before" or "after" the passes.
void DumpPair(const Settings& settings, const std::string& label, std::string_view stage,
              const tensorflow::Graph& graph, const tensorflow::FunctionLibraryDefinition& library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORTING_DUMP_H_
