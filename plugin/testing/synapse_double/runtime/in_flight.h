// Use counts of objects that queued commands need: buffers, mappings, events, recipes.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_IN_FLIGHT_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_IN_FLIGHT_H_

#include <atomic>
#include <memory>
#include <utility>

namespace hpu::synapse_double {

// Base class of objects that must not be destroyed or freed while a queued command uses them (rule 20).
class InFlight {
 public:
  InFlight() = default;
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  bool is_in_flight() const { return uses_.load() > 0; }

 private:
  template <typename Object>
  friend std::shared_ptr<Object> HoldInFlight(std::shared_ptr<Object> object);

  std::atomic<int> uses_{0};
};

// Returns a reference that counts as a use until its last copy is gone. A command captures it by value.
template <typename Object>
std::shared_ptr<Object> HoldInFlight(std::shared_ptr<Object> object) {
  Object* const borrowed = object.get();
  static_cast<InFlight*>(borrowed)->uses_.fetch_add(1);
  return std::shared_ptr<Object>(
      borrowed, [object = std::move(object)](Object* held) { static_cast<InFlight*>(held)->uses_.fetch_sub(1); });
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_IN_FLIGHT_H_
