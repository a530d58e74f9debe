// Registry of live handles by kind: detects unknown, foreign and destroyed handles.
//
// Handles are numbers outside the address space, so a dereference faults. No number is used twice.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_HANDLES_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_HANDLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

enum class HandleKind { kStream = 1, kEvent, kGraph, kTensor, kSection, kRecipe, kCommunicator };

const char* KindName(HandleKind kind);

// Owns the objects of live handles. Thread safe.
//
// A class with a handle has a constant `kKind`:
//   static constexpr HandleKind kKind = HandleKind::kEvent;
class Handles {
 public:
  static Handles& Get();

  // Registers an object and returns its handle.
  template <typename Handle, typename Object>
  Handle Add(std::shared_ptr<Object> object) {
    return reinterpret_cast<Handle>(AddObject(Object::kKind, std::move(object)));
  }

  // Finds a live object. Refuses (rule 2) any other handle with synInvalidArgument.
  template <typename Object, typename Handle>
  synStatus Find(Handle handle, std::shared_ptr<Object>* object) {
    std::shared_ptr<void> found;
    const synStatus status = FindObject(Object::kKind, reinterpret_cast<uint64_t>(handle), &found);
    *object = std::static_pointer_cast<Object>(std::move(found));
    return status;
  }

  // Destroys a handle; its object lives as long as it is referenced. Does nothing for unknown handles.
  template <typename Handle>
  void Remove(Handle handle) {
    RemoveObject(reinterpret_cast<uint64_t>(handle));
  }

  // All live objects of a kind.
  template <typename Object>
  std::vector<std::shared_ptr<Object>> All() {
    std::vector<std::shared_ptr<Object>> objects;
    for (auto& object : OfKind(Object::kKind)) objects.push_back(std::static_pointer_cast<Object>(object));
    return objects;
  }

  // Destroys all handles of a kind, or all handles.
  void Clear(HandleKind kind);
  void Clear();

 private:
  struct Entry {
    HandleKind kind;
    std::shared_ptr<void> object;
  };

  void* AddObject(HandleKind kind, std::shared_ptr<void> object);
  synStatus FindObject(HandleKind kind, uint64_t handle, std::shared_ptr<void>* object);
  void RemoveObject(uint64_t handle);
  std::vector<std::shared_ptr<void>> OfKind(HandleKind kind);

  std::mutex mutex_;
  std::map<uint64_t, Entry> entries_;
  uint64_t next_ = 1;
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_HANDLES_H_
