#include "plugin/tensorflow/device/arena.h"

#include <utility>

#include "tensorflow/core/common_runtime/bfc_allocator.h"

namespace hpu {
namespace {

// Hands out the range in pieces. The allocator above keeps 8 bytes of bookkeeping for every 256 bytes that it receives.
// Handing out 32 GiB at once would cost 1 GiB of host memory.
class RangeSubAllocator : public tensorflow::SubAllocator {
 public:
  RangeSubAllocator(void* base, uint64_t bytes, tensorflow::AllocatorMemoryType type)
      : SubAllocator({}, {}), next_(static_cast<char*>(base)), left_(bytes), type_(type) {}

  void* Alloc(size_t alignment, size_t bytes, size_t* received) override {
    if (bytes > left_) return nullptr;
    char* piece = next_;
    next_ += bytes;
    left_ -= bytes;
    *received = bytes;
    return piece;
  }
  // Only called when the allocator is destroyed: it does not collect garbage.
  void Free(void* pointer, size_t bytes) override {}
  bool SupportsCoalescing() const override { return true; }
  tensorflow::AllocatorMemoryType GetMemoryType() const override { return type_; }

 private:
  char* next_;  // guarded by the lock of the allocator above
  uint64_t left_;
  const tensorflow::AllocatorMemoryType type_;
};

}  // namespace

std::unique_ptr<tensorflow::Allocator> NewArena(void* base, uint64_t bytes, const std::string& name,
                                                tensorflow::AllocatorMemoryType type) {
  constexpr uint64_t kGranule = 256;
  bytes -= bytes % kGranule;
  tensorflow::BFCAllocator::Options options;
  options.allow_growth = true;
  // A free piece that exceeds the request by less than this is not split; all of it counts as in use.
  constexpr double kSpareBytes = 64 << 10;
  options.fragmentation_fraction = kSpareBytes / static_cast<double>(bytes);
  return std::make_unique<tensorflow::BFCAllocator>(std::make_unique<RangeSubAllocator>(base, bytes, type), bytes, name,
                                                    options);
}

}  // namespace hpu
