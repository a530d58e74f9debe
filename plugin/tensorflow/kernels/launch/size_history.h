// SizeHistory: which sizes of a cluster's arguments change, and which of them change together.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SIZE_HISTORY_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SIZE_HISTORY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hpu/recipe/v1/notes.pb.h"
#include "plugin/compiler/bounded_arguments.h"
#include "plugin/compiler/lowering.h"

namespace hpu {

// The bucket of a size: 2 to 4, 5 to 6, 7 to 8, 9 to 12, 13 to 16, and so on; maxima are 2^n and 3 * 2^n. Less than a
// third of a bucket's maximum is padding, apart from the first one. Requires size > 1.
SizeRange BucketOf(int64_t size);

// Compares signatures that differ in numbers only: in dimensions of parameters, or in elements of compile-time
// constants of integers. Not thread safe.
class SizeHistory {
 public:
  // Adds a signature. Returns the arguments with a symbol for each group of numbers that have changed together, by the
  // same amount each time. Returns nullopt as long as no number has changed, if a changing number is 0 or 1 now (it
  // would broadcast, or leave an array without elements), or if too much changes.
  std::optional<BoundedArguments> Add(const std::vector<ArgumentDescription>& arguments);

  // Writes the families to the notes. Returns whether any number has changed.
  bool Save(recipe::v1::ClusterNotes* notes) const;
  // Adds the families of an earlier process. Call before Add.
  void Load(const recipe::v1::ClusterNotes& notes);

 private:
  // Signatures with equal kinds, dtypes, ranks, variables and other constants.
  struct Family {
    std::vector<int64_t> first;     // the numbers of the first signature
    std::vector<uint64_t> changes;  // for each number a hash of its changes; 0 if it never changed
    int64_t signatures = 0;
  };

  absl::flat_hash_map<uint64_t, Family> families_;  // by fingerprint
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SIZE_HISTORY_H_
