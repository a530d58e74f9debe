// AddressMap: which buffer holds the contents of which device addresses.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_ADDRESS_MAP_H_
#define HPU_PLUGIN_BACKENDS_PJRT_ADDRESS_MAP_H_

#include <cstdint>
#include <map>
#include <vector>

#include "plugin/backends/pjrt/shared_buffer.h"
#include "plugin/hal/types.h"

namespace hpu::pjrt {

// PJRT allocates memory itself, so device addresses are only names: a range of them is bound to a part of a buffer. A
// write binds its range to a new buffer, and leaves the other parts of the ranges that it cuts. Not thread safe.
class AddressMap {
 public:
  // Contents of a range of addresses.
  struct Piece {
    uint64_t bytes = 0;
    SharedBufferPtr buffer;  // null: never written
    uint64_t offset = 0;     // in the buffer

    bool is_whole() const { return buffer != nullptr && offset == 0 && bytes == buffer->bytes; }
  };

  // Binds the range to `bytes` bytes of the buffer at `offset`. Requires bytes > 0.
  void Bind(hal::DeviceAddress address, uint64_t bytes, SharedBufferPtr buffer, uint64_t offset = 0);
  // Forgets the contents of the range.
  void Erase(hal::DeviceAddress address, uint64_t bytes);

  // The map's reference to the buffer whose bytes, all of them, are bound to exactly this range; null if there is none.
  // Valid while the generation is the same. The caller may empty it.
  SharedBufferPtr* FindWhole(hal::DeviceAddress address, uint64_t bytes);
  // The contents of the range, in order of their addresses. Unwritten gaps are pieces without a buffer.
  std::vector<Piece> Pieces(hal::DeviceAddress address, uint64_t bytes) const;

  size_t size() const { return ranges_.size(); }
  // Changes whenever ranges are added or removed, which makes results of FindWhole invalid.
  uint64_t generation() const { return generation_; }

 private:
  struct Range {
    hal::DeviceAddress end;
    SharedBufferPtr buffer;
    uint64_t offset;  // of the range's first byte in the buffer
  };
  using Ranges = std::map<hal::DeviceAddress, Range>;

  // The first range that ends after `address`.
  Ranges::const_iterator FirstEndingAfter(hal::DeviceAddress address) const;

  Ranges ranges_;  // by first address; disjoint
  uint64_t generation_ = 0;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_ADDRESS_MAP_H_
