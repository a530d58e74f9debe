// Command: one entry of a stream's queue.
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

// The fields that a kind does not name are unused. Pointers are into the data of the device or into mapped host memory.
struct Command {
  enum class Kind { kCopy, kFill, kLaunch, kWait, kCallback, kExchange, kStop };

  Kind kind = Kind::kStop;
  const void* source = nullptr;  // kCopy
  void* destination = nullptr;   // kCopy, kFill
  uint64_t bytes = 0;            // kCopy, kFill
  bool from_host = false;        // kCopy: the ranges do not overlap
  uint8_t value = 0;             // kFill

  std::shared_ptr<const hal::Recipe> recipe;  // kLaunch: keeps `emulator_recipe` alive
  const EmulatorRecipe* emulator_recipe = nullptr;
  std::vector<void*> arguments;  // kLaunch; the storage stays with the queue's slot from one launch to the next
  std::vector<void*> results;
  void* workspace = nullptr;

  common::Point point;                         // kWait
  std::function<void(absl::Status)> callback;  // kCallback
  // kExchange: work that other devices wait for. Called with the stream's error, too, so that it can tell them.
  std::function<absl::Status(const absl::Status&)> exchange;

  // Lets go of what the command kept alive, but keeps the storage of its arrays.
  void Clear() {
    recipe.reset();
    point = common::Point();
    callback = nullptr;
    exchange = nullptr;
  }
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMAND_H_
