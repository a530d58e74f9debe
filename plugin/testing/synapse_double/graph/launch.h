// Launch of a recipe: checks of the tensors that a caller passes, and the command that runs the nodes.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_LAUNCH_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_LAUNCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/testing/synapse_double/graph/recipe.h"
#include "plugin/testing/synapse_double/graph/verdict.h"
#include "plugin/testing/synapse_double/runtime/device_memory.h"
#include "plugin/testing/synapse_double/runtime/stream.h"

namespace hpu::synapse_double {

// One tensor as the caller passes it.
struct LaunchArgument {
  std::string name;
  uint64_t id = synapse::kInvalidTensorId;  // unused if the launch finds tensors by name
  uint64_t address = 0;
  synapse::synTensorType kind = synapse::DATA_TENSOR;
  Sizes sizes;  // all dimensions of the struct; all 0: the recipe's sizes
};

// Device addresses of a launch.
struct LaunchAddresses {
  std::vector<uint64_t> sections;  // 0: a section without bytes
  uint64_t workspace = 0;
  std::vector<std::shared_ptr<Allocation>> memory;  // holds the allocations that the addresses point into
};

// Checks a launch (rule 18) and computes the addresses of the recipe's sections.
Verdict CheckLaunch(const Recipe& recipe, const std::vector<LaunchArgument>& arguments, bool by_name,
                    uint64_t workspace, LaunchAddresses* addresses);

// The command of a launch that passed CheckLaunch. It holds the recipe and the memory of `addresses`.
Stream::Command LaunchCommand(std::shared_ptr<Recipe> recipe, LaunchAddresses addresses);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_LAUNCH_H_
