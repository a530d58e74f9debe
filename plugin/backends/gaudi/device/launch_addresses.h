// LaunchAddresses: the addresses of a launch's arguments, results and buffers, and copies of arguments that SynapseAI
// refuses.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_LAUNCH_ADDRESSES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_LAUNCH_ADDRESSES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/gaudi/compiler/recipe.h"
#include "plugin/hal/stream.h"

namespace hpu::gaudi {

// synLaunch refuses sections that overlap, and addresses that are not aligned. TensorFlow may pass one buffer as
// several arguments, or part of a buffer. Such arguments are copied before the launch. The launches of a stream reuse
// one object, so that its vectors keep their capacity. Not thread safe.
class LaunchAddresses {
 public:
  struct Copy {
    hal::DeviceAddress source;
    uint64_t offset;  // in the memory for copies
    uint64_t bytes;
  };

  // Finds the addresses of a launch. The device must have checked the launch. InvalidArgument if memory that the recipe
  // writes is not aligned, or overlaps other memory that the recipe writes.
  absl::Status Set(const GaudiRecipe& recipe, const hal::LaunchArguments& launch);

  // One for each of recipe.memory().
  const std::vector<hal::DeviceAddress>& addresses() const { return addresses_; }
  const std::vector<Copy>& copies() const { return copies_; }
  uint64_t copied_bytes() const { return copied_bytes_; }
  // Adds `distance` to each element of addresses(), to convert it to the card's address. Sources of copies stay device
  // addresses.
  void ToCard(uint64_t distance);
  // Sets the card's addresses of the copied arguments. `memory`: the card's address of the memory for copies.
  void PlaceCopies(uint64_t memory);

 private:
  // Memory of one argument or result.
  struct Section {
    hal::DeviceAddress begin;
    uint64_t bytes;
    size_t memory;  // index in recipe.memory()
    bool is_written;
  };

  // Adds the copies. `sections_` are sorted.
  absl::Status CopyRefused(const GaudiRecipe& recipe);
  absl::Status AddCopy(const GaudiRecipe& recipe, const Section& section, const char* reason);

  std::vector<hal::DeviceAddress> addresses_;
  std::vector<Section> sections_;
  std::vector<Copy> copies_;
  std::vector<size_t> copied_;  // index in recipe.memory() of each copy
  uint64_t copied_bytes_ = 0;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_LAUNCH_ADDRESSES_H_
