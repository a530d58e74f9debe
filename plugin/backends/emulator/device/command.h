// Command: entry of an emulator stream's queue.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMAND_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMAND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/backends/emulator/codegen/recipe.h"

namespace hpu::emulator {

// Comments list the kinds that use a field. Pointers are host addresses of device memory's data or of host buffers.
struct Command {
  enum class Kind { kCopy, kFill, kLaunch, kWait, kCallback, kExchange, kStop };

  Kind kind = Kind::kStop;
  const void* source = nullptr;  // kCopy
  void* destination = nullptr;   // kCopy, kFill
  uint64_t bytes = 0;            // kCopy, kFill
  bool from_host = false;        // kCopy: `source` is host memory, so the ranges do not overlap
  uint8_t value = 0;             // kFill

  std::shared_ptr<const hal::Recipe> recipe;        // kLaunch: keeps `emulator_recipe` alive
  const EmulatorRecipe* emulator_recipe = nullptr;  // kLaunch
  std::vector<void*> arguments;                     // kLaunch; the queue's slot keeps the storage between launches
  std::vector<void*> results;                       // kLaunch
  void* workspace = nullptr;                        // kLaunch

  common::Point point;                         // kWait
  std::function<void(absl::Status)> callback;  // kCallback
  // kExchange: work that other devices wait for. Runs even if the stream has failed. The argument is the stream's
  // error, which `exchange` reports to the waiting devices.
  std::function<absl::Status(const absl::Status&)> exchange;

  // Releases the objects that the command kept alive, but keeps the storage of its arrays.
  void Clear() {
    recipe.reset();
    point = common::Point();
    callback = nullptr;
    exchange = nullptr;
  }
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMAND_H_
