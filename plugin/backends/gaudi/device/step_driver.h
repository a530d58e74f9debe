// StepDriver: runs the steps of a recipe with loops, from the host.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_STEP_DRIVER_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_STEP_DRIVER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/compiler/recipe.h"

namespace hpu::gaudi {

// A launch of a recipe with loops. Addresses are the card's.
struct StepLaunch {
  std::shared_ptr<const GaudiRecipe> recipe;
  std::vector<uint64_t> addresses;  // of recipe->memory()
  uint64_t graph_workspace = 0;
};

// The stream's side of a launch. Calls come from one thread.
class StepQueue {
 public:
  virtual ~StepQueue() = default;

  // Queues a graph after the work queued so far.
  virtual absl::Status LaunchGraph(const CompiledGraph& graph, const StepLaunch& launch) = 0;
  // Waits for the work queued so far, and reads one byte at an address of the card.
  virtual absl::StatusOr<uint8_t> ReadByte(uint64_t address) = 0;
  // Waits for the work queued so far, and returns its error.
  virtual absl::Status Await() = 0;
  // The device's error if the device is lost; else OK.
  virtual absl::Status Check() = 0;
};

// Queues the steps of a launch. Waits for the predicates of loops, and for part of the work of long counted loops. Does
// not wait for the work queued last. Returns the first error of a call, or of work that it has waited for.
absl::Status RunSteps(const StepLaunch& launch, StepQueue* queue);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_STEP_DRIVER_H_
