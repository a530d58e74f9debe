// PinnedPages: pages of host memory that are mapped for the device, and the pieces of copies that cross mappings.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_PINNED_PAGES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_PINNED_PAGES_H_

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// SynapseAI refuses copies whose host side crosses the end of a mapping, and mappings that overlap. So ranges are
// widened to pages, pages of several ranges are mapped once and counted, and copies are cut where mappings end. A
// mapping lasts until no range uses any of its pages.
//
// Borrows the function table. Thread safe; Cut takes a shared lock if the range is pinned.
class PinnedPages {
 public:
  // A part of a copy, inside one mapping.
  struct Piece {
    uint64_t begin;
    uint64_t bytes;
  };
  using Pieces = absl::InlinedVector<Piece, 2>;

  // Pools are pinned in parts of this size.
  static constexpr uint64_t kPoolPartBytes = uint64_t{32} << 20;

  PinnedPages(const synapse::Functions& functions, synapse::synDeviceId device)
      : functions_(functions), device_(device) {}

  // Pins a range's pages with synHostMap.
  absl::Status Pin(uint64_t begin, uint64_t bytes);
  // Unpins a range that was passed to Pin. Queued work must not use it.
  void Unpin(uint64_t begin, uint64_t bytes);

  // Adds memory of synHostMalloc, which begins at a page and is pinned already.
  void AddPinned(uint64_t begin, uint64_t bytes);
  void RemovePinned(uint64_t begin, uint64_t bytes);

  // Adds a range that begins at a page. The first copy that uses a part of the range pins that part.
  void AddPool(uint64_t begin, uint64_t bytes);
  void RemovePool(uint64_t begin);

  // Cuts a range into pieces, in order. The range must lie in one range added above. ResourceExhausted if a part of a
  // pool cannot be pinned.
  absl::Status Cut(uint64_t begin, uint64_t bytes, Pieces* pieces);

 private:
  struct Mapping {
    uint64_t end = 0;
    uint32_t uses = 0;
    bool is_mapped = false;  // by synHostMap
  };
  using Mappings = std::map<uint64_t, Mapping>;  // by begin; they do not overlap

  struct Pool {
    uint64_t end = 0;
    std::vector<bool> is_pinned;  // one for each part
  };

  // The first mapping that ends after `address`.
  Mappings::iterator FirstAfter(uint64_t address);
  absl::Status PinLocked(uint64_t begin, uint64_t end);
  void UnpinLocked(uint64_t begin, uint64_t end);
  absl::Status Map(uint64_t begin, uint64_t end);
  absl::Status PinPoolParts(uint64_t begin, uint64_t end);
  // False if a part of the range is not pinned.
  bool CutLocked(uint64_t begin, uint64_t end, Pieces* pieces);

  const synapse::Functions& functions_;
  const synapse::synDeviceId device_;
  std::shared_mutex mutex_;
  Mappings mappings_;               // guarded by mutex_
  std::map<uint64_t, Pool> pools_;  // by begin; guarded by mutex_
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_PINNED_PAGES_H_
