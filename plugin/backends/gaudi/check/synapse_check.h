// CheckSynapse: compiles a one-node graph for each usable guid, and whole programs, with an installed SynapseAI.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_CHECK_SYNAPSE_CHECK_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_CHECK_SYNAPSE_CHECK_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

enum class CheckOutcome {
  kRunning,
  kOk,
  kRefused,       // by the library
  kNotInRelease,  // the release lacks the node or its params
  kNoExample,     // operands, types or params of the guid are unknown
  kNotLowered,    // the backend cannot lower an instruction of the program
  kNoProgram,     // the file cannot be read, or holds no program
};

// A graph of one node, or the graphs of a program.
struct CheckedGraph {
  size_t index = 0;
  std::string stem;  // of the guid; empty for a program
  std::string type;  // "f32", "f32 to i32"; empty for a program
  std::string name;  // the node's guid, or the program's path
  std::string plan;  // text of the graphs (ToText); empty until they are made
  CheckOutcome outcome = CheckOutcome::kRunning;
  std::string reason;  // empty if the outcome is kOk
};

struct CheckedLibrary {
  std::string path;
  std::string version;
  std::string profile;
  std::string generation;
  std::string target;                          // CompilerTarget: versions of SynapseAI and of its kernel libraries
  std::vector<std::string> missing_functions;  // optional ones
  size_t graphs = 0;                           // number of graphs to check
};

class CheckListener {
 public:
  virtual ~CheckListener() = default;
  virtual void OnLibrary(const CheckedLibrary& library) = 0;
  // Called when a graph's check starts, when its plan is made, and when it has an outcome.
  virtual void OnGraph(const CheckedGraph& graph) = 0;
};

struct CheckOptions {
  std::string library = synapse::kDefaultLibrary;
  // Default: the generation of the machine's cards. Without a card: gaudi for release 1.5, gaudi2 for later releases.
  std::optional<synapse::Generation> generation;
  std::string programs;  // folder; empty for none
  size_t first = 0;      // index of the first graph to check
};

// Generation of a name such as "gaudi2". InvalidArgument for other text.
absl::StatusOr<synapse::Generation> GenerationOfName(absl::string_view name);

// Initialises SynapseAI, and ends it before returning. Acquires no card. Fails if the library cannot be used
// (synapse::Library::Open) or does not know the generation. Also fails if the folder of programs cannot be read or has
// no program. A graph's failure is its outcome. Not thread safe.
absl::Status CheckSynapse(const CheckOptions& options, CheckListener* listener);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_CHECK_SYNAPSE_CHECK_H_
