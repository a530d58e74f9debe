#include "plugin/testing/synapse_double/runtime/handles.h"

#include "plugin/testing/synapse_double/runtime/release.h"

namespace hpu::synapse_double {
namespace {

// Above all addresses that a process can have, even with five levels of page tables.
uint64_t Base() { return (uint64_t{0x7E00} + ThisRelease().number) << 48; }
constexpr int kSerialShift = 4;
constexpr int kKindShift = 44;

// The kind of a handle that the registry once made; 0 for other numbers.
int FormerKind(uint64_t handle, uint64_t next) {
  if (handle < Base() || handle >= Base() + (uint64_t{16} << kKindShift)) return 0;
  const uint64_t serial = (handle & ((uint64_t{1} << kKindShift) - 1)) >> kSerialShift;
  if (serial == 0 || serial >= next || handle % (1 << kSerialShift) != 0) return 0;
  return static_cast<int>((handle - Base()) >> kKindShift);
}

}  // namespace

const char* KindName(HandleKind kind) {
  switch (kind) {
    case HandleKind::kStream:
      return "stream";
    case HandleKind::kEvent:
      return "event";
    case HandleKind::kGraph:
      return "graph";
    case HandleKind::kTensor:
      return "tensor";
    case HandleKind::kSection:
      return "section";
    case HandleKind::kRecipe:
      return "recipe";
    case HandleKind::kCommunicator:
      return "communicator";
  }
  return "handle";
}

Handles& Handles::Get() {
  static Handles* const handles = new Handles;
  return *handles;
}

void* Handles::AddObject(HandleKind kind, std::shared_ptr<void> object) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t handle = Base() + (static_cast<uint64_t>(kind) << kKindShift) + (next_++ << kSerialShift);
  entries_[handle] = Entry{kind, std::move(object)};
  return reinterpret_cast<void*>(handle);
}

synStatus Handles::FindObject(HandleKind kind, uint64_t handle, std::shared_ptr<void>* object) {
  std::string found;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = entries_.find(handle);
    if (entry != entries_.end() && entry->second.kind == kind) {
      *object = entry->second.object;
      return synapse::synSuccess;
    }
    if (handle == 0) {
      found = "null";
    } else if (entry != entries_.end()) {
      found = Text("one of kind ", KindName(entry->second.kind));
    } else if (const int former = FormerKind(handle, next_)) {
      found = Text("a destroyed one of kind ", KindName(static_cast<HandleKind>(former)));
    } else {
      found = "a number that is not a handle";
    }
  }
  return Refuse(Rule::kHandles, synapse::synInvalidArgument,
                Text("expected a handle of kind ", KindName(kind), ", found ", found, " (", Hex(handle), ")"));
}

void Handles::RemoveObject(uint64_t handle) {
  Entry entry;  // destroyed after the lock: its destructor may remove handles
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(handle);
  if (found == entries_.end()) return;
  entry = std::move(found->second);
  entries_.erase(found);
}

std::vector<std::shared_ptr<void>> Handles::OfKind(HandleKind kind) {
  std::vector<std::shared_ptr<void>> objects;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [handle, entry] : entries_) {
    if (entry.kind == kind) objects.push_back(entry.object);
  }
  return objects;
}

void Handles::Clear(HandleKind kind) {
  std::vector<Entry> removed;  // destroyed after the lock
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.kind != kind) {
      ++entry;
      continue;
    }
    removed.push_back(std::move(entry->second));
    entry = entries_.erase(entry);
  }
}

void Handles::Clear() {
  for (const HandleKind kind : {HandleKind::kCommunicator, HandleKind::kStream, HandleKind::kEvent, HandleKind::kGraph,
                                HandleKind::kTensor, HandleKind::kSection, HandleKind::kRecipe}) {
    Clear(kind);
  }
}

}  // namespace hpu::synapse_double
