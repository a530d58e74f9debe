#include "plugin/testing/synapse_double/runtime/switches.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "plugin/testing/synapse_double/runtime/release.h"

namespace hpu::synapse_double {
namespace {

constexpr char kPrefix[] = "SYNAPSE_DOUBLE_";

[[noreturn]] void DieAtSwitch(const std::string& name, const std::string& value, const char* reason) {
  std::fprintf(stderr, "synapse_double: %s%s=%s: %s\n", kPrefix, name.c_str(), value.c_str(), reason);
  std::abort();
}

// Parses one variable into a field of Switches.
using Setter = std::function<void(const std::string& name, const std::string& value, Switches* switches)>;

template <typename Number>
Setter SetNumber(Number Switches::*field) {
  return [field](const std::string& name, const std::string& value, Switches* switches) {
    char* end = nullptr;
    const unsigned long long number = std::strtoull(value.c_str(), &end, 0);
    if (value.empty() || *end != '\0' || value[0] == '-') DieAtSwitch(name, value, "expected a number");
    switches->*field = static_cast<Number>(number);
  };
}

Setter SetBool(bool Switches::*field) {
  return [field](const std::string& name, const std::string& value, Switches* switches) {
    if (value != "0" && value != "1") DieAtSwitch(name, value, "expected 0 or 1");
    switches->*field = value == "1";
  };
}

Setter SetText(std::string Switches::*field) {
  return [field](const std::string&, const std::string& value, Switches* switches) { switches->*field = value; };
}

void SetStrict(const std::string& name, const std::string& value, Switches* switches) {
  if (!value.empty() && value != "abort" && value != "log") DieAtSwitch(name, value, "expected abort or log");
  switches->abort_on_violation = value == "abort";
}

void SetGeneration(const std::string& name, const std::string& value, Switches* switches) {
  for (const synapse::Generation generation : synapse::kGenerations) {
    if (value != synapse::GenerationName(generation)) continue;
    if (ThisRelease().device_type(generation) == kUnknownDeviceType) {
      DieAtSwitch(name, value, "expected a generation that this release knows");
    }
    switches->generation = generation;
    return;
  }
  DieAtSwitch(name, value, "expected gaudi, gaudi2 or gaudi3");
}

const std::map<std::string, Setter>& Setters() {
  static const auto* const setters = new std::map<std::string, Setter>{
      {"SEED", SetNumber(&Switches::seed)},
      {"STRICT", SetStrict},
      {"MIN_DELAY_US", SetNumber(&Switches::min_delay_us)},
      {"MAX_DELAY_US", SetNumber(&Switches::max_delay_us)},
      {"CALL_DELAY_US", SetNumber(&Switches::call_delay_us)},
      {"EMPTY_LAUNCH", SetBool(&Switches::empty_launch)},
      {"GATE", SetText(&Switches::gate)},
      {"GUARD_BYTES", SetBool(&Switches::guard_bytes)},
      {"VERSION", SetText(&Switches::version)},
      {"GENERATION", SetGeneration},
      {"DEVICES", SetNumber(&Switches::devices)},
      {"DEVICE_BYTES", SetNumber(&Switches::device_bytes)},
      {"LOCKS", SetText(&Switches::lock_folder)},
      {"HCCL_TIMEOUT_MS", SetNumber(&Switches::hccl_timeout_ms)},
      {"FLUSH_DENORMALS", SetBool(&Switches::flush_denormals)},
      {"LOSE_NAN", SetBool(&Switches::lose_nan_in_max_min)},
      {"COMPLEX_GUIDS", SetBool(&Switches::complex_guids)},
      {"FAIL_COMMAND", SetNumber(&Switches::failing_command)},
      {"FAIL_STATUS", SetNumber(&Switches::failing_status)},
      {"FAIL_CALLS", SetText(&Switches::failing_calls)},
  };
  return *setters;
}

std::atomic<const Switches*> current{nullptr};

// Never deleted: earlier references stay valid.
Switches* NewSwitches() {
  static std::mutex mutex;
  static auto* const all = new std::deque<Switches>;
  const std::lock_guard<std::mutex> lock(mutex);
  return &all->emplace_back();
}

}  // namespace

const Switches& GetSwitches() {
  const Switches* const switches = current.load();
  return switches == nullptr ? ReadSwitches() : *switches;
}

const Switches& ReadSwitches() {
  Switches* const switches = NewSwitches();
  switches->generation = ThisRelease().default_generation;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (text.compare(0, std::strlen(kPrefix), kPrefix) != 0) continue;
    const size_t equals = text.find('=');
    const std::string name = text.substr(std::strlen(kPrefix), equals - std::strlen(kPrefix));
    const auto setter = Setters().find(name);
    if (setter == Setters().end()) DieAtSwitch(name, text.substr(equals + 1), "no such switch (runtime/switches.h)");
    setter->second(name, text.substr(equals + 1), switches);
  }
  current.store(switches);
  return *switches;
}

}  // namespace hpu::synapse_double
