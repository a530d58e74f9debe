// Workspace: device memory for the temporaries of the recipes on one stream.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_WORKSPACE_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_WORKSPACE_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "plugin/hal/types.h"
#include "tensorflow/core/framework/allocator.h"

namespace hpu {

// One block, shared by all launches on a stream, because launches run one at a time. The block grows in steps of
// HPU_WORKSPACE_CHUNK_MB when a recipe needs more. The block stays allocated until memory is short. An allocation for
// each launch would fragment the memory of longer-lived tensors. Thread safe.
class Workspace {
  struct Block;

 public:
  // Keeps the block until the launch is queued. Later work on the stream may reuse the block's memory.
  class Lease {
   public:
    Lease() = default;
    // Address of the leased memory; 0 for an empty lease, or if the allocation failed.
    hal::DeviceAddress address() const;

   private:
    friend class Workspace;
    explicit Lease(std::shared_ptr<Block> block) : block_(std::move(block)) {}
    std::shared_ptr<Block> block_;
  };

  // `allocator` must outlive the workspace and its leases. A block has at least `initial_bytes` if memory permits.
  Workspace(tensorflow::Allocator* allocator, uint64_t initial_bytes, uint64_t chunk_bytes);

  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Leases `bytes` bytes of device memory. Requires bytes > 0. The lease's address is 0 if there is no memory left.
  Lease Acquire(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Allocates a block of `initial_bytes`, unless this is 0 or memory is short. Tensors then cannot divide this memory.
  void Reserve() ABSL_LOCKS_EXCLUDED(mutex_);

  // Frees the block as soon as the block has no leases. Returns false if there is no block.
  bool Release() ABSL_LOCKS_EXCLUDED(mutex_);

  // Size of the current block, in bytes.
  uint64_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Size of a block for `bytes`: initial_bytes if that suffices, else a multiple of chunk_bytes.
  uint64_t Rounded(uint64_t bytes) const;
  std::shared_ptr<Block> Allocate(uint64_t bytes) const;

  tensorflow::Allocator* const allocator_;
  const uint64_t initial_bytes_;
  const uint64_t chunk_bytes_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<Block> block_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_WORKSPACE_H_
