// DeviceContents: contents of the device's addresses, and the work that changes them.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_DEVICE_CONTENTS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_DEVICE_CONTENTS_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/pjrt/address_map.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/helper_programs.h"
#include "plugin/backends/pjrt/host_exchange.h"
#include "plugin/backends/pjrt/recipe.h"
#include "plugin/hal/stream.h"
#include "plugin/hal/types.h"

namespace hpu::pjrt {

// Every call changes the address map at once and lets PJRT do the work later. PJRT orders the work by its buffers: a
// launch waits for the work that makes its arguments, and a donated buffer waits for its readers. So calls take effect
// in their order, whichever stream they come from. Ranges must have been checked. Thread safe.
class DeviceContents {
 public:
  // `donates`: launches may pass arguments' buffers to results.
  DeviceContents(const Client& client, bool donates) : client_(client), donates_(donates), programs_(client) {}

  // The source must stay unchanged until *source_free.
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes, Event* source_free);
  // Copies nothing: the destination shares the source's buffers until one of both is written.
  void CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes);
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes, Event* end);
  // Passes arguments' buffers to the results that alias them, unless something else needs their contents. If it fails,
  // the passed arguments may be lost: later uses of their addresses return the error. Returns the end of the launch.
  // Appends handles of passed buffers to `garbage`, because destroying them takes time.
  absl::StatusOr<Event> Launch(const PjrtRecipe& recipe, const hal::LaunchArguments& launch,
                               std::vector<BufferHandle>* garbage);
  // Reads the present contents of the operands that are not written, and binds new contents to the others.
  absl::StatusOr<HostExchange> Exchange(absl::Span<const peers::Operand> operands);
  // The present contents of the range, for CopyToHost. Later writes do not change them.
  std::vector<AddressMap::Piece> Pieces(hal::DeviceAddress source, uint64_t bytes) const;
  // Forgets the contents of the range, which frees buffers that nothing else uses.
  void Forget(hal::DeviceAddress address, uint64_t bytes);

  // Whether the pieces' contents are there, so that CopyToHost does not block.
  bool IsReady(absl::Span<const AddressMap::Piece> pieces) const;
  // Waits until the pieces' contents are there, and queues copies of them to `destination`, whose ends are appended to
  // `ends`.
  absl::Status CopyToHost(absl::Span<const AddressMap::Piece> pieces, void* destination, std::vector<Event>* ends);

  // Number of address ranges with contents, for tests.
  size_t ranges() const;

 private:
  struct LaunchState;

  // The contents of an argument that is no whole buffer, as one buffer.
  absl::StatusOr<SharedBufferPtr> Assemble(const std::vector<AddressMap::Piece>& pieces, uint64_t bytes);
  absl::StatusOr<SharedBufferPtr> AssembleOnHost(absl::Span<const AddressMap::Piece> pieces, uint64_t bytes);
  absl::StatusOr<SharedBufferPtr> View(const AddressMap::Piece& piece);
  void FindArguments(const PjrtRecipe& recipe, const hal::LaunchArguments& launch, LaunchState* state);
  absl::Status AssembleArguments(const PjrtRecipe& recipe, LaunchState* state);
  void BindResults(const PjrtRecipe& recipe, const hal::LaunchArguments& launch, LaunchState* state,
                   std::vector<BufferHandle>* garbage);
  void LoseDonated(const PjrtRecipe& recipe, const hal::LaunchArguments& launch, const absl::Status& error,
                   LaunchState* state);

  absl::Status WaitFor(SharedBuffer& buffer) const;
  BufferHandle Own(PJRT_Buffer* buffer) const { return BufferHandle(buffer, Deleter<PJRT_Buffer>{&client_.plugin()}); }

  const Client& client_;
  const bool donates_;
  HelperPrograms programs_;
  mutable std::mutex mutex_;
  AddressMap map_;  // guarded by mutex_
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_DEVICE_CONTENTS_H_
