// Parsers for settings in environment variables, for the generated accessors and for the log's levels.
#ifndef HPU_PLUGIN_BASE_FLAGS_PARSE_H_
#define HPU_PLUGIN_BASE_FLAGS_PARSE_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace hpu::flags {

// Whether the variable is set to a non-empty value. The value may equal the default.
bool IsSet(const char* name);

// Whether TF_CPP_MIN_LOG_LEVEL hides warnings, for code that does not use TensorFlow's log.
bool WarningsAreOff();

// A variable and its former name, which is read if the variable is unset or empty.
struct Variable {
  Variable(const char* name, const char* old_name = nullptr) : name(name), old_name(old_name) {}  // NOLINT: from a name
  const char* name;
  const char* old_name;
};

// Each returns `fallback` if the variable is unset, empty or invalid. An invalid value is reported once per variable.
bool ParseBool(Variable variable, bool fallback);  // 1/true/yes/on, 0/false/no/off, ignoring case
int64_t ParseInt(Variable variable, int64_t fallback, int64_t min = std::numeric_limits<int64_t>::min(),
                 int64_t max = std::numeric_limits<int64_t>::max());
std::string ParseString(Variable variable, const char* fallback);
// The position of the value in `values`; `fallback` is a position too.
int ParseChoice(Variable variable, int fallback, std::initializer_list<const char*> values);
std::vector<std::string> ParseList(Variable variable, const char* fallback);  // comma-separated; spaces are trimmed

}  // namespace hpu::flags

#endif  // HPU_PLUGIN_BASE_FLAGS_PARSE_H_
