// Merges the arguments of a cluster that name the same variable.
#ifndef HPU_PLUGIN_COMPILER_MERGED_ARGUMENTS_H_
#define HPU_PLUGIN_COMPILER_MERGED_ARGUMENTS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/compiler/executable.h"
#include "plugin/compiler/lowering.h"
#include "tensorflow/core/framework/function.h"

namespace hpu {

struct MergedArguments {
  std::unique_ptr<tensorflow::FunctionLibraryDefinition> library;  // with the function of the merged arguments
  std::vector<ArgumentDescription> arguments;
  std::vector<int> inputs;  // argument of the merged function → argument of the cluster

  // Replaces argument numbers of the merged function by the cluster's.
  void RestoreInputs(Executable* executable) const;
};

// Whether an argument has the variable of an earlier argument (ArgumentDescription::same_as).
bool NamesVariableTwice(const std::vector<ArgumentDescription>& arguments);

// Replaces the source's function by one with a single argument for each variable, and so the functions that it calls,
// its loops and its branches. tf2xla has one value for each argument, and would lose all but one of the writes to a
// variable that is passed twice. Fails with UNIMPLEMENTED for a single op: the result then depends on the order in
// which the CPU's kernel reads and writes elements.
absl::StatusOr<MergedArguments> MergeArguments(const ClusterSource& source,
                                               const std::vector<ArgumentDescription>& arguments);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_MERGED_ARGUMENTS_H_
