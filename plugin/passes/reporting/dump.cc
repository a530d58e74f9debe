#include "plugin/passes/reporting/dump.h"

#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/parse.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/lib/io/path.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

// Labels and paths that this process has used.
struct Names {
  std::mutex mutex;
  absl::flat_hash_map<std::string, std::string> labels;  // label by function and graph
  absl::flat_hash_map<std::string, int> uses;            // number of uses of each label and path
  absl::flat_hash_set<std::string> warned;

  // The first unused of name, name_1, name_2, …
  std::string Unique(const std::string& name) {
    while (true) {
      const int n = uses[name]++;
      if (n == 0) return name;
      std::string numbered = absl::StrCat(name, "_", n);
      if (uses[numbered]++ == 0) return numbered;
    }
  }
};

Names& GetNames() {
  static auto* names = new Names;
  return *names;
}

void WarnOnce(const std::string& key, const std::string& message) {
  Names& names = GetNames();
  std::lock_guard<std::mutex> lock(names.mutex);
  if (names.warned.insert(key).second) LOG(WARNING) << message;
}

tensorflow::Status WriteText(const std::string& path, const std::string& text) {
  tensorflow::Env* env = tensorflow::Env::Default();
  HPU_RETURN_IF_ERROR(env->RecursivelyCreateDir(std::string(tensorflow::io::Dirname(path))));
  return tensorflow::WriteStringToFile(env, path, text);
}

void Write(const std::string& directory, const char* setting, const std::string& name, const tensorflow::Graph& graph,
           const tensorflow::FunctionLibraryDefinition& library) {
  tensorflow::GraphDef definition;
  graph.ToGraphDef(&definition);
  *definition.mutable_library() = SortedLibrary(library);
  std::string path = tensorflow::io::JoinPath(directory, name);
  {
    Names& names = GetNames();
    std::lock_guard<std::mutex> lock(names.mutex);
    path = names.Unique(path) + ".pbtxt";
  }
  std::string text;
  tensorflow::protobuf::TextFormat::PrintToString(definition, &text);
  const tensorflow::Status status = WriteText(path, text);
  if (status.ok()) {
    VLOG(1) << "wrote " << path;
  } else {
    WarnOnce(directory, absl::StrCat("cannot write graph dumps to ", setting, "=", directory, ": ", status.message(),
                                     "; set ", setting, " to a writable directory"));
  }
}

}  // namespace

std::string DumpLabel(const std::string& function, const std::string& graph_name) {
  Names& names = GetNames();
  std::lock_guard<std::mutex> lock(names.mutex);
  std::string& label = names.labels[absl::StrCat(function, "/", graph_name)];
  if (label.empty()) label = names.Unique(graph_name);
  return label;
}

void Dump(const Settings& settings, DumpLevel level, const std::string& label, std::string_view stage,
          const tensorflow::Graph& graph, const tensorflow::FunctionLibraryDefinition& library) {
  constexpr char kDirectory[] = "TF_DUMP_GRAPH_PREFIX";
  constexpr char kLevel[] = "HBN_TF_GRAPH_DUMP";
  if (settings.dump_level < level) return;
  if (!settings.dump_directory.empty()) {
    const std::string name = absl::StrCat(settings.dump_prefix, "hpu_", label, "_", stage);
    Write(settings.dump_directory, kDirectory, name, graph, library);
  } else if (flags::IsSet(kLevel)) {
    WarnOnce(kDirectory, absl::StrCat("no graph dumps are written: ", kLevel, "=", settings.dump_level, " requires ",
                                      kDirectory, " to be set to a directory"));
  }
}

void DumpPair(const Settings& settings, const std::string& label, std::string_view stage,
              const tensorflow::Graph& graph, const tensorflow::FunctionLibraryDefinition& library) {
  if (settings.graph_def_directory.empty()) return;
  const std::string name = absl::StrCat(settings.dump_prefix, "hpu_", label, "_", stage);
  Write(settings.graph_def_directory, "TF_GRAPPLER_GRAPH_DEF_PATH", name, graph, library);
}

}  // namespace hpu::passes
