#include "plugin/base/flags/parse.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "plugin/base/flags/warnings.h"

namespace hpu::flags {
namespace {

const char* Get(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Returns the variable's value, or null. If `name` is not set, looks up `old_name` and copies `old_name` to `name`, for
// messages.
const char* Get(Variable* variable) {
  const char* value = Get(variable->name);
  if (value != nullptr || variable->old_name == nullptr) return value;
  variable->name = variable->old_name;
  return Get(variable->name);
}

void ReportOnce(const char* name, const char* value, const char* expected, const std::string& fallback) {
  if (WarningsAreOff() || !ClaimWarning(name)) return;
  std::fprintf(stderr, "HPU: WARNING: %s=%s is not %s; the default '%s' is used\n", name, value, expected,
               fallback.c_str());
}

bool EqualsAny(const char* value, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (strcasecmp(value, word) == 0) return true;
  }
  return false;
}

}  // namespace

bool ClaimWarning(const char* name) {
  static auto* mutex = new std::mutex;
  static auto* claimed = new std::set<std::string>;
  std::lock_guard<std::mutex> lock(*mutex);
  return claimed->insert(name).second;
}

bool IsSet(const char* name) { return Get(name) != nullptr; }

bool WarningsAreOff() {
  const char* level = Get("TF_CPP_MIN_LOG_LEVEL");
  return level != nullptr && std::strtol(level, nullptr, 10) > 1;
}

bool ParseBool(Variable variable, bool fallback) {
  const char* value = Get(&variable);
  if (value == nullptr) return fallback;
  if (EqualsAny(value, {"1", "true", "yes", "on"})) return true;
  if (EqualsAny(value, {"0", "false", "no", "off"})) return false;
  ReportOnce(variable.name, value, "a boolean (1, true, yes, on, 0, false, no, off)", fallback ? "1" : "0");
  return fallback;
}

int64_t ParseInt(Variable variable, int64_t fallback, int64_t min, int64_t max) {
  const char* value = Get(&variable);
  if (value == nullptr) return fallback;
  char* end = nullptr;
  errno = 0;
  const int64_t number = std::strtoll(value, &end, 10);
  const bool is_number = errno == 0 && *end == '\0';
  if (is_number && number >= min && number <= max) return number;
  const bool has_max = max != std::numeric_limits<int64_t>::max();
  const std::string range = has_max ? "a number from " + std::to_string(min) + " to " + std::to_string(max)
                                    : "a number of at least " + std::to_string(min);
  ReportOnce(variable.name, value, is_number ? range.c_str() : "a whole number", std::to_string(fallback));
  return fallback;
}

std::string ParseString(Variable variable, const char* fallback) {
  const char* value = Get(&variable);
  return value != nullptr ? value : fallback;
}

int ParseChoice(Variable variable, int fallback, std::initializer_list<const char*> values) {
  const char* value = Get(&variable);
  if (value == nullptr) return fallback;
  for (const char* const* candidate = values.begin(); candidate != values.end(); ++candidate) {
    if (strcasecmp(value, *candidate) == 0) return static_cast<int>(candidate - values.begin());
  }
  std::string expected = "one of";
  for (const char* candidate : values) expected += std::string(expected == "one of" ? " " : ", ") + candidate;
  ReportOnce(variable.name, value, expected.c_str(), values.begin()[fallback]);
  return fallback;
}

std::vector<std::string> ParseList(Variable variable, const char* fallback) {
  const std::string text = ParseString(variable, fallback);
  std::vector<std::string> entries;
  std::string entry;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != ',') {
      entry += text[i];
      continue;
    }
    const size_t first = entry.find_first_not_of(" \t");
    if (first != std::string::npos) entries.push_back(entry.substr(first, entry.find_last_not_of(" \t") - first + 1));
    entry.clear();
  }
  return entries;
}

}  // namespace hpu::flags
