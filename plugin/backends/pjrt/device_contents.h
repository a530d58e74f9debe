// DeviceContents: contents of the device's addresses, and the work that changes them.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_DEVICE_CONTENTS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_DEVICE_CONTENTS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/pjrt/address_map.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/device_exchange.h"
#include "plugin/backends/pjrt/helper_programs.h"
#include "plugin/backends/pjrt/host_exchange.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/backends/pjrt/recipe.h"
#include "plugin/hal/stream.h"
#include "plugin/hal/types.h"

namespace hpu::pjrt {

// Calls update the address map immediately and queue their work with PJRT. PJRT orders work by buffers: a launch
// waits for the work that writes its arguments, and a donated buffer waits for its readers. So calls from all streams
// take effect in call order. The caller must have checked the ranges. Thread safe.
class DeviceContents {
 public:
  // Arguments that results may overwrite, by what became of them in all successful launches.
  struct Donations {
    uint64_t donated = 0;
    uint64_t kept = 0;  // the contents were needed elsewhere, or the argument was a part of a buffer
  };

  // `donates`: whether launches may donate argument buffers to results.
  DeviceContents(const Client& client, bool donates)
      : client_(client),
        donates_(donates),
        launches_fail_with_arguments_(IsForCpu(client.plugin().path())),
        programs_(client) {}

  // The source must stay unchanged until the event *source_free.
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes, Event* source_free);
  // Copies nothing: the destination shares the source's buffers until either range is written.
  void CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes);
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes, Event* end);
  // Donates the buffers of aliased arguments to results, unless the contents are still needed. If the launch fails,
  // donated arguments may be lost: later uses of their addresses fail with the error. Returns the event of the launch's
  // end. Waits for the launch of collectives that write arguments and, on a card, for exchanges that write them.
  absl::StatusOr<Event> Launch(const PjrtRecipe& recipe, const hal::LaunchArguments& launch);
  // Destroys the handles of donated buffers, if there are more than `kept`. The handles hold no device memory, but
  // their destruction takes time. So threads call DestroyDonated before they wait for the device.
  void DestroyDonated(size_t kept = 0);
  // Prepares an exchange: captures the current contents of source operands, and binds new buffers to destination
  // operands.
  absl::StatusOr<HostExchange> Exchange(absl::Span<const peers::Operand> operands);
  // Prepares a collective of devices: captures the current contents of `source`, and binds a new buffer to
  // `destination`. `world` must outlive the result.
  std::unique_ptr<DeviceExchange> Collective(World& world, DeviceExchange::Program program,
                                             const peers::Operand& source, const peers::Operand& destination);
  // One ready buffer with the contents of the pieces; zeros without pieces. Waits for the work that writes the pieces,
  // and returns its error.
  absl::StatusOr<SharedBufferPtr> Argument(const std::vector<AddressMap::Piece>& pieces, uint64_t bytes);
  // Current contents of the range, for CopyToHost. Later writes do not change the returned pieces.
  std::vector<AddressMap::Piece> Pieces(hal::DeviceAddress source, uint64_t bytes) const;
  // Drops the contents of the range, and frees buffers without other references.
  void Erase(hal::DeviceAddress address, uint64_t bytes);

  // Whether the pieces' contents are available, so that CopyToHost does not block.
  bool IsReady(absl::Span<const AddressMap::Piece> pieces) const;
  // Waits until the pieces' contents are available, then queues their copies to `destination`. Appends the completion
  // events to `ends`.
  absl::Status CopyToHost(absl::Span<const AddressMap::Piece> pieces, void* destination, std::vector<Event>* ends);

  // Number of address ranges with contents, for tests.
  size_t ranges() const;
  Donations donations() const;
  // Number of PJRT buffer handles: of all devices of the process, plus this device's donated buffers that are not
  // destroyed yet.
  uint64_t live_handles() const;

 private:
  struct LaunchState;

  // One buffer with the contents of an argument that is not a whole buffer.
  absl::StatusOr<SharedBufferPtr> Assemble(const std::vector<AddressMap::Piece>& pieces, uint64_t bytes);
  absl::StatusOr<SharedBufferPtr> AssembleOnHost(absl::Span<const AddressMap::Piece> pieces, uint64_t bytes);
  absl::StatusOr<BufferHandle> Filled(uint8_t value, uint64_t bytes, Event* end);
  absl::StatusOr<SharedBufferPtr> View(const AddressMap::Piece& piece);
  void FindArguments(const PjrtRecipe& recipe, const hal::LaunchArguments& launch, LaunchState* state);
  absl::Status AssembleArguments(const PjrtRecipe& recipe, LaunchState* state);
  void BindResults(const PjrtRecipe& recipe, const hal::LaunchArguments& launch, LaunchState* state);
  void LoseDonated(const PjrtRecipe& recipe, const hal::LaunchArguments& launch, const absl::Status& error,
                   LaunchState* state);

  absl::Status WaitFor(SharedBuffer& buffer) const;
  // Waits for the exchange that writes the buffer, if launches on the buffer do not fail with the exchange.
  absl::Status WaitForExchange(SharedBuffer& buffer) const;
  BufferHandle Own(PJRT_Buffer* buffer) const { return BufferHandle(buffer, Deleter<PJRT_Buffer>{&client_.plugin()}); }

  const Client& client_;
  const bool donates_;
  // Whether a launch on a buffer of a failed exchange fails. CUDA plugins run such a launch on unwritten memory.
  const bool launches_fail_with_arguments_;
  HelperPrograms programs_;
  mutable std::mutex mutex_;
  AddressMap map_;                     // guarded by mutex_
  std::vector<BufferHandle> donated_;  // handles to destroy, guarded by mutex_
  Donations donations_;                // guarded by mutex_
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_DEVICE_CONTENTS_H_
