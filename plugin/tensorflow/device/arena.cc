#include "plugin/tensorflow/device/arena.h"

#include <utility>

#include "tensorflow/core/common_runtime/bfc_allocator.h"

namespace hpu {
namespace {

// Passes the range to the BFC allocator in pieces. The BFC allocator keeps 8 bytes of bookkeeping for every 256 bytes
// that it receives. A single piece of 32 GiB would therefore cost 1 GiB of host memory. The BFC allocator refuses
// requests that exceed the range's rest, even if the rest and the free memory before it suffice, so a rest that is
// smaller than the piece before it is not left.
class RangeSubAllocator : public tensorflow::SubAllocator {
 public:
  RangeSubAllocator(void* base, uint64_t bytes, tensorflow::AllocatorMemoryType type)
      : SubAllocator({}, {}), next_(static_cast<char*>(base)), left_(bytes), type_(type) {}

  void* Alloc(size_t alignment, size_t bytes, size_t* received) override {
    if (bytes > left_) return nullptr;
    if (left_ - bytes < bytes) bytes = left_;
    char* piece = next_;
    next_ += bytes;
    left_ -= bytes;
    *received = bytes;
    return piece;
  }
  // Called only when the BFC allocator is destroyed, because its garbage collection is off.
  void Free(void* pointer, size_t bytes) override {}
  bool SupportsCoalescing() const override { return true; }
  tensorflow::AllocatorMemoryType GetMemoryType() const override { return type_; }

 private:
  char* next_;  // guarded by the BFC allocator's lock, like left_
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
  // The BFC allocator splits a free chunk that exceeds the request by this number of bytes, or by a factor of two.
  constexpr double kSpareBytes = 64 << 10;
  options.fragmentation_fraction = kSpareBytes / static_cast<double>(bytes);
  return std::make_unique<tensorflow::BFCAllocator>(std::make_unique<RangeSubAllocator>(base, bytes, type), bytes, name,
                                                    options);
}

}  // namespace hpu
