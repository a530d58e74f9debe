// AddressMap: map from device addresses to the PJRT buffers that hold their contents.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_ADDRESS_MAP_H_
#define HPU_PLUGIN_BACKENDS_PJRT_ADDRESS_MAP_H_

#include <cstdint>
#include <map>
#include <vector>

#include "plugin/backends/pjrt/shared_buffer.h"
#include "plugin/hal/types.h"

namespace hpu::pjrt {

// PJRT allocates memory itself, so device addresses are only keys: a range of addresses is bound to a part of a buffer.
// Binding a range replaces the overlapping parts of earlier ranges and keeps their other parts. Not thread safe.
class AddressMap {
 public:
  // Contents of a range of addresses.
  struct Piece {
    uint64_t bytes = 0;
    SharedBufferPtr buffer;  // null: no contents
    uint64_t offset = 0;     // in the buffer

    bool is_whole() const { return buffer != nullptr && offset == 0 && bytes == buffer->bytes; }
  };

  // Binds the range to `bytes` bytes of the buffer at `offset`. Requires bytes > 0.
  void Bind(hal::DeviceAddress address, uint64_t bytes, SharedBufferPtr buffer, uint64_t offset = 0);
  // Removes all bindings in the range.
  void Erase(hal::DeviceAddress address, uint64_t bytes);

  // The map's reference to the buffer that is bound as a whole to exactly this range; null if there is no such buffer.
  // The pointer is valid while generation() is unchanged. The caller may reset the reference.
  SharedBufferPtr* FindWhole(hal::DeviceAddress address, uint64_t bytes);
  // The contents of the range, in address order. Unwritten gaps are pieces without a buffer.
  std::vector<Piece> Pieces(hal::DeviceAddress address, uint64_t bytes) const;

  size_t size() const { return ranges_.size(); }
  // Changes when ranges are removed or cut, which invalidates results of FindWhole.
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
