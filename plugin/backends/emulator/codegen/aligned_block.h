// AlignedBlock: aligned host memory for the data of recipes and kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ALIGNED_BLOCK_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ALIGNED_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "plugin/backends/emulator/codegen/recipe_parts.h"

namespace hpu::emulator {

// Start and size are multiples of kWorkspaceAlignment; the contents are uninitialised.
class AlignedBlock {
 public:
  explicit AlignedBlock(uint64_t bytes)
      : data_(static_cast<char*>(
            ::operator new(AlignUp(std::max<uint64_t>(bytes, 1)), std::align_val_t(kWorkspaceAlignment)))) {}
  ~AlignedBlock() {
    if (data_ != nullptr) ::operator delete(data_, std::align_val_t(kWorkspaceAlignment));
  }
  AlignedBlock(AlignedBlock&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  AlignedBlock& operator=(AlignedBlock&&) = delete;

  char* data() const { return data_; }

 private:
  char* data_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ALIGNED_BLOCK_H_
