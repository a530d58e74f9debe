// RecipeContainer: file format of serialised recipes, for every backend.
//
//   offset  size  field
//   0       8     magic "HPURCNTR"
//   8       4     version of the format, little-endian, kContainerVersion
//   12      4     reserved, 0
//   16      8     size of the description, little-endian
//   24      32    digest: SHA-256 of all bytes except digest and seal
//   56      32    seal: signature of the digest by the device server that compiled the recipe; 0 if there is none
//   88            description: hpu.recipe.v1.Description
//                 binaries, adjacent, in the order of the description's sizes
#ifndef HPU_PLUGIN_PROGRAM_RECIPE_CONTAINER_H_
#define HPU_PLUGIN_PROGRAM_RECIPE_CONTAINER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/program/program_table.h"

namespace hpu {

inline constexpr uint32_t kContainerVersion = 1;
inline constexpr size_t kContainerHeaderBytes = 88;
inline constexpr size_t kSealBytes = 32;

// Contents of a serialised recipe. Device::LoadRecipe calls Parse, which verifies the bytes, so callers of LoadRecipe
// need not verify the bytes.
struct RecipeContainer {
  std::string kind;    // name of the backend, which determines the type of the payload
  std::string target;  // DeviceInfo::compiler_target
  ProgramTable table;
  uint64_t workspace_bytes = 0;
  std::string payload;                      // the backend's message, serialised
  std::vector<absl::string_view> binaries;  // machine code; borrowed

  // Equal contents have equal bytes. The result has no seal.
  std::string Serialize() const;
  // Size of Serialize's result in bytes.
  uint64_t SerializedBytes() const;

  // Inverse of Serialize. The binaries are views into `bytes`. Fails with InvalidArgument if the bytes are damaged,
  // have a seal, or belong to another kind or version. Fails with FailedPrecondition for another target. `name`:
  // the recipe's name in error texts. Thread safe.
  static absl::StatusOr<RecipeContainer> Parse(absl::string_view name, absl::string_view bytes, absl::string_view kind,
                                               absl::string_view target);
};

// InvalidArgument error: recipe `name` cannot be loaded because of `problem`. Backends use it for invalid payloads.
absl::Status UnusableRecipe(absl::string_view name, absl::string_view problem);

// Verifies header and digest, but neither the seal nor the description. InvalidArgument, with the reason, if the
// bytes are not a whole container.
absl::Status VerifyContainer(absl::string_view bytes);

// Fields in a container's header, for device servers. Views into the container.
struct SealedDigest {
  absl::string_view digest;  // 32 bytes
  absl::string_view seal;    // kSealBytes
};

// Reads the header without verifying the digest. InvalidArgument if the bytes are not a container of this version.
absl::StatusOr<SealedDigest> ReadSealedDigest(absl::string_view name, absl::string_view bytes);
// Replaces the seal; an empty `seal` removes it. Requires bytes with a header, and a seal of kSealBytes unless empty.
void SetSeal(std::string* bytes, absl::string_view seal);

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_RECIPE_CONTAINER_H_
