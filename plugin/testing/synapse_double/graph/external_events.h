// ExternalEvents: for each event, the recipe whose tensors synEventMapTensor mapped to it.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_EXTERNAL_EVENTS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_EXTERNAL_EVENTS_H_

#include <map>
#include <mutex>

#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::synapse_double {

// Thread safe. Handles are never reused, so entries of destroyed events do no harm.
class ExternalEvents {
 public:
  static ExternalEvents& Get() {
    static auto* const events = new ExternalEvents;
    return *events;
  }

  // Replaces the event's earlier mapping.
  void Map(synapse::synEventHandle event, synapse::synRecipeHandle recipe) {
    const std::lock_guard lock(mutex_);
    recipes_[event] = recipe;
  }
  bool IsMapped(synapse::synEventHandle event, synapse::synRecipeHandle recipe) {
    const std::lock_guard lock(mutex_);
    const auto found = recipes_.find(event);
    return found != recipes_.end() && found->second == recipe;
  }

 private:
  std::mutex mutex_;
  std::map<synapse::synEventHandle, synapse::synRecipeHandle> recipes_;
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_EXTERNAL_EVENTS_H_
