#include "plugin/backends/pjrt/device_contents.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::pjrt {
namespace {

// Larger fills run on the device instead of copying bytes from the host.
constexpr uint64_t kMaxHostFill = 64 << 10;
// Larger arguments of several parts are assembled by a program on the device, which must be compiled first.
constexpr uint64_t kMaxHostAssembly = 64 << 10;
// A program with more parts would take long to compile.
constexpr size_t kMaxPieces = 64;
// Number of handles of donated buffers above which a launch destroys them.
constexpr size_t kMaxDonated = 2048;
// Alignment that plugins require of views: 64 bytes on CPUs, 16 on GPUs.
constexpr uint64_t kViewAlignment = 64;

}  // namespace

// State of one Launch. Each thread reuses one object, so that a launch allocates no arrays for whole buffers.
struct DeviceContents::LaunchState {
  std::vector<SharedBufferPtr> arguments;
  std::vector<std::pair<size_t, std::vector<AddressMap::Piece>>> parts;  // arguments that are not whole buffers
  std::vector<PJRT_Buffer*> handles;                                     // of the arguments
  std::vector<int64_t> kept;                                             // aliased arguments that are not donated
  std::vector<char> donated;                                             // by result: 1 if its argument is donated
  // By argument: the map's reference to a whole buffer, or null. Valid while the map has this generation.
  std::vector<SharedBufferPtr*> whole;
  uint64_t generation = 0;
  std::vector<PJRT_Buffer*> results;

  // Elements of `handles`, `whole` and `results` keep their values until the launch sets them.
  void Reset(size_t argument_count, size_t result_count) {
    arguments.clear();
    arguments.resize(argument_count);
    parts.clear();
    handles.resize(argument_count);
    kept.clear();
    donated.assign(result_count, 0);
    whole.resize(argument_count);
    results.resize(result_count);
  }
};

absl::Status DeviceContents::CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes,
                                          Event* source_free) {
  absl::StatusOr<BufferHandle> handle = client_.ToDevice(source, bytes, source_free);
  if (!handle.ok()) return client_.WithMemoryStats(handle.status());
  auto buffer = std::make_shared<SharedBuffer>(*std::move(handle), bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  map_.Bind(destination, bytes, std::move(buffer));
  return absl::OkStatus();
}

void DeviceContents::CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::vector<AddressMap::Piece> pieces = map_.Pieces(source, bytes);
  map_.Erase(destination, bytes);
  for (const AddressMap::Piece& piece : pieces) {
    if (piece.buffer != nullptr) map_.Bind(destination, piece.bytes, piece.buffer, piece.offset);
    destination += piece.bytes;
  }
}

absl::StatusOr<BufferHandle> DeviceContents::Filled(uint8_t value, uint64_t bytes, Event* end) {
  if (bytes > kMaxHostFill) return programs_.Fill(bytes, value, end);
  const std::vector<uint8_t> contents(bytes, value);
  return client_.ToDevice(contents.data(), bytes, /*source_free=*/nullptr);
}

absl::Status DeviceContents::Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes, Event* end) {
  absl::StatusOr<BufferHandle> handle = Filled(value, bytes, end);
  if (!handle.ok()) return client_.WithMemoryStats(handle.status());
  auto buffer = std::make_shared<SharedBuffer>(*std::move(handle), bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  map_.Bind(destination, bytes, std::move(buffer));
  return absl::OkStatus();
}

absl::StatusOr<Event> DeviceContents::Launch(const PjrtRecipe& recipe, const hal::LaunchArguments& launch) {
  static thread_local LaunchState state;
  state.Reset(launch.arguments.size(), launch.results.size());
  FindArguments(recipe, launch, &state);
  absl::StatusOr<Event> end = [&]() -> absl::StatusOr<Event> {
    HPU_RETURN_IF_ERROR(AssembleArguments(recipe, &state));
    return Execute(recipe.executable(), client_.plugin(), state.handles, state.kept, absl::MakeSpan(state.results));
  }();
  if (end.ok()) {
    BindResults(recipe, launch, &state);
  } else {
    end = client_.WithMemoryStats(end.status());
    LoseDonated(recipe, launch, end.status(), &state);
  }
  // These calls release buffers, because `state` outlives the launch.
  state.arguments.clear();
  state.parts.clear();
  DestroyDonated(kMaxDonated);
  return end;
}

void DeviceContents::DestroyDonated(size_t kept) {
  static thread_local std::vector<BufferHandle> handles;  // keeps its capacity
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (donated_.size() <= kept) return;
    handles.swap(donated_);
  }
  handles.clear();
}

void DeviceContents::FindArguments(const PjrtRecipe& recipe, const hal::LaunchArguments& launch, LaunchState* state) {
  const std::vector<hal::TensorSpec>& arguments = recipe.arguments();
  const std::vector<hal::ResultSpec>& results = recipe.results();
  std::lock_guard<std::mutex> lock(mutex_);
  state->generation = map_.generation();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const uint64_t bytes = arguments[i].bytes;
    SharedBufferPtr* const whole = bytes == 0 ? nullptr : map_.FindWhole(launch.arguments[i], bytes);
    state->whole[i] = whole;
    if (whole != nullptr) {
      state->arguments[i] = *whole;
    } else {
      state->parts.emplace_back(
          i, bytes == 0 ? std::vector<AddressMap::Piece>() : map_.Pieces(launch.arguments[i], bytes));
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const int32_t argument = results[i].aliased_argument;
    if (argument < 0) continue;
    SharedBufferPtr* const whole = state->whole[argument];
    // The two owners are the map and this launch. Any other owner (a second argument, a range, a queued copy, a view)
    // needs the contents after the launch has begun.
    if (donates_ && whole != nullptr && whole->use_count() == 2 && (*whole)->is_launched() &&
        (*whole)->handle != nullptr) {
      whole->reset();  // so that no other call finds the donated buffer
      state->donated[i] = 1;
    } else {
      state->kept.push_back(argument);
    }
  }
}

absl::Status DeviceContents::AssembleArguments(const PjrtRecipe& recipe, LaunchState* state) {
  for (const auto& [argument, pieces] : state->parts) {
    HPU_ASSIGN_OR_RETURN(state->arguments[argument], Assemble(pieces, recipe.arguments()[argument].bytes));
  }
  for (size_t i = 0; i < state->arguments.size(); ++i) {
    SharedBuffer& buffer = *state->arguments[i];
    buffer.AwaitLaunch();
    if (buffer.handle == nullptr) {
      return Reworded(buffer.lost, absl::StrCat("argument ", i, " is lost: ", buffer.lost.message()));
    }
    HPU_RETURN_IF_ERROR(WaitForExchange(buffer));
    state->handles[i] = buffer.handle.get();
  }
  return absl::OkStatus();
}

void DeviceContents::BindResults(const PjrtRecipe& recipe, const hal::LaunchArguments& launch, LaunchState* state) {
  const std::vector<hal::ResultSpec>& results = recipe.results();
  std::lock_guard<std::mutex> lock(mutex_);
  const bool unchanged = map_.generation() == state->generation;  // `whole` is valid until the first Bind
  for (size_t i = 0; i < results.size(); ++i) {
    if (!state->donated[i]) continue;
    const int32_t argument = results[i].aliased_argument;
    SharedBufferPtr buffer = std::move(state->arguments[argument]);
    donated_.push_back(std::exchange(buffer->handle, Own(state->results[i])));
    buffer->is_ready.store(false, std::memory_order_relaxed);
    buffer->is_promised = false;
    if (unchanged) {
      *state->whole[argument] = std::move(buffer);
    } else {
      map_.Bind(launch.results[i], results[i].spec.bytes, std::move(buffer));
    }
    ++donations_.donated;
  }
  donations_.kept += state->kept.size();
  for (size_t i = 0; i < results.size(); ++i) {
    if (state->donated[i]) continue;
    const uint64_t bytes = results[i].spec.bytes;
    BufferHandle handle = Own(state->results[i]);
    if (bytes > 0) map_.Bind(launch.results[i], bytes, std::make_shared<SharedBuffer>(std::move(handle), bytes));
  }
}

void DeviceContents::LoseDonated(const PjrtRecipe& recipe, const hal::LaunchArguments& launch,
                                 const absl::Status& error, LaunchState* state) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < state->donated.size(); ++i) {
    if (!state->donated[i]) continue;
    const int32_t argument = recipe.results()[i].aliased_argument;
    SharedBufferPtr& buffer = state->arguments[argument];
    if (client_.IsDeleted(buffer->handle.get())) {
      buffer->handle.reset();
      buffer->lost =
          Reworded(error, absl::StrCat("a failed launch of ", recipe.name(), " has overwritten the buffer (",
                                       error.message(), "); assign the variable again, or restore a checkpoint"));
    }
    map_.Bind(launch.arguments[argument], recipe.arguments()[argument].bytes, buffer);
  }
}

absl::StatusOr<HostExchange> DeviceContents::Exchange(absl::Span<const peers::Operand> operands) {
  std::vector<HostExchange::Operand> prepared(operands.size());
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto [address, bytes, is_written] = operands[i];
    if (bytes == 0) continue;
    prepared[i].bytes = bytes;
    if (is_written) {
      HPU_ASSIGN_OR_RETURN(BufferPromise promise, client_.Promise(bytes));
      prepared[i].destination.push_back(std::move(promise));
    } else {
      prepared[i].source = map_.Pieces(address, bytes);
    }
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    for (BufferPromise& promise : prepared[i].destination) {
      auto buffer = std::make_shared<SharedBuffer>(promise.TakeBuffer(), promise.bytes());
      buffer->is_promised = true;
      map_.Bind(operands[i].address, promise.bytes(), std::move(buffer));
    }
  }
  return HostExchange(std::move(prepared));
}

std::unique_ptr<DeviceExchange> DeviceContents::Collective(World& world, DeviceExchange::Program program,
                                                           const peers::Operand& source,
                                                           const peers::Operand& destination) {
  std::promise<void> launched;
  auto buffer = std::make_shared<SharedBuffer>(launched.get_future().share(), destination.bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<AddressMap::Piece> pieces;
  if (source.bytes > 0) pieces = map_.Pieces(source.address, source.bytes);
  map_.Bind(destination.address, destination.bytes, buffer);
  return std::make_unique<DeviceExchange>(*this, world, client_, std::move(program), std::move(pieces),
                                          std::move(buffer), std::move(launched));
}

absl::StatusOr<SharedBufferPtr> DeviceContents::Argument(const std::vector<AddressMap::Piece>& pieces, uint64_t bytes) {
  SharedBufferPtr argument;
  if (pieces.empty()) {
    Event end;
    HPU_ASSIGN_OR_RETURN(BufferHandle handle, Filled(0, bytes, &end));
    argument = std::make_shared<SharedBuffer>(std::move(handle), bytes);
  } else if (pieces.size() == 1 && pieces[0].is_whole()) {
    argument = pieces[0].buffer;
  } else {
    HPU_ASSIGN_OR_RETURN(argument, Assemble(pieces, bytes));
  }
  HPU_RETURN_IF_ERROR(WaitFor(*argument));
  return argument;
}

absl::StatusOr<SharedBufferPtr> DeviceContents::Assemble(const std::vector<AddressMap::Piece>& pieces, uint64_t bytes) {
  for (const AddressMap::Piece& piece : pieces) {
    if (piece.buffer == nullptr) continue;
    piece.buffer->AwaitLaunch();
    if (piece.buffer->handle == nullptr) return piece.buffer;  // lost
  }
  if (pieces.size() == 1 && pieces[0].buffer != nullptr && pieces[0].offset % kViewAlignment == 0) {
    if (auto view = View(pieces[0]); view.ok()) return view;
  }
  if (bytes <= kMaxHostAssembly || pieces.size() > kMaxPieces) return AssembleOnHost(pieces, bytes);
  for (const AddressMap::Piece& piece : pieces) {
    if (piece.buffer != nullptr) HPU_RETURN_IF_ERROR(WaitForExchange(*piece.buffer));
  }
  HPU_ASSIGN_OR_RETURN(BufferHandle handle, programs_.Concatenate(pieces));
  return std::make_shared<SharedBuffer>(std::move(handle), bytes);
}

absl::StatusOr<SharedBufferPtr> DeviceContents::AssembleOnHost(absl::Span<const AddressMap::Piece> pieces,
                                                               uint64_t bytes) {
  std::vector<char> contents(bytes);
  std::vector<Event> ends;
  absl::Status status = CopyToHost(pieces, contents.data(), &ends);
  for (const Event& end : ends) status.Update(end.Await());  // `contents` must outlive the copies
  HPU_RETURN_IF_ERROR(status);
  HPU_ASSIGN_OR_RETURN(BufferHandle handle, client_.ToDevice(contents.data(), bytes, /*source_free=*/nullptr));
  return std::make_shared<SharedBuffer>(std::move(handle), bytes);
}

absl::StatusOr<SharedBufferPtr> DeviceContents::View(const AddressMap::Piece& piece) {
  // A view does not wait for the work that writes its contents.
  HPU_RETURN_IF_ERROR(WaitFor(*piece.buffer));
  HPU_ASSIGN_OR_RETURN(void* memory, client_.DeviceMemory(piece.buffer->handle.get()));
  HPU_ASSIGN_OR_RETURN(BufferHandle handle,
                       client_.View(static_cast<char*>(memory) + piece.offset, piece.bytes, [owner = piece.buffer] {}));
  return std::make_shared<SharedBuffer>(std::move(handle), piece.bytes);
}

std::vector<AddressMap::Piece> DeviceContents::Pieces(hal::DeviceAddress source, uint64_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return map_.Pieces(source, bytes);
}

void DeviceContents::Erase(hal::DeviceAddress address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  map_.Erase(address, bytes);
}

bool DeviceContents::IsReady(absl::Span<const AddressMap::Piece> pieces) const {
  return std::all_of(pieces.begin(), pieces.end(), [this](const AddressMap::Piece& piece) {
    if (piece.buffer == nullptr) return true;
    if (!piece.buffer->is_launched()) return false;
    if (piece.buffer->handle == nullptr) return true;
    if (piece.buffer->is_ready.load(std::memory_order_acquire)) return true;
    const auto event = client_.Ready(piece.buffer->handle.get());
    return event.ok() && event->IsReady();
  });
}

absl::Status DeviceContents::CopyToHost(absl::Span<const AddressMap::Piece> pieces, void* destination,
                                        std::vector<Event>* ends) {
  char* to = static_cast<char*>(destination);
  for (const AddressMap::Piece& piece : pieces) {
    if (piece.buffer == nullptr) {
      std::memset(to, 0, piece.bytes);
    } else {
      HPU_RETURN_IF_ERROR(WaitFor(*piece.buffer));
      PJRT_Buffer* const handle = piece.buffer->handle.get();
      if (piece.is_whole()) {
        HPU_ASSIGN_OR_RETURN(Event end, client_.ToHost(handle, to, piece.bytes));
        ends->push_back(std::move(end));
      } else if (client_.plugin().Has(&PJRT_Api::PJRT_Buffer_CopyRawToHost)) {
        HPU_ASSIGN_OR_RETURN(Event end, client_.PartToHost(handle, piece.offset, to, piece.bytes));
        ends->push_back(std::move(end));
      } else {
        std::vector<char> whole(piece.buffer->bytes);
        HPU_ASSIGN_OR_RETURN(const Event end, client_.ToHost(handle, whole.data(), whole.size()));
        HPU_RETURN_IF_ERROR(end.Await());
        std::memcpy(to, whole.data() + piece.offset, piece.bytes);
      }
    }
    to += piece.bytes;
  }
  return absl::OkStatus();
}

absl::Status DeviceContents::WaitFor(SharedBuffer& buffer) const {
  if (buffer.is_ready.load(std::memory_order_acquire)) return absl::OkStatus();
  buffer.AwaitLaunch();
  if (buffer.handle == nullptr) return buffer.lost;
  HPU_ASSIGN_OR_RETURN(const Event ready, client_.Ready(buffer.handle.get()));
  HPU_RETURN_IF_ERROR(ready.Await());
  buffer.is_ready.store(true, std::memory_order_release);
  return absl::OkStatus();
}

absl::Status DeviceContents::WaitForExchange(SharedBuffer& buffer) const {
  return buffer.is_promised && !launches_fail_with_arguments_ ? WaitFor(buffer) : absl::OkStatus();
}

size_t DeviceContents::ranges() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return map_.size();
}

DeviceContents::Donations DeviceContents::donations() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return donations_;
}

uint64_t DeviceContents::live_handles() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return SharedBuffer::live.load(std::memory_order_relaxed) + donated_.size();
}

}  // namespace hpu::pjrt
