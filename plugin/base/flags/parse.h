// Reads one setting from the environment. The generated accessors use it; others only ask IsSet.
#ifndef HPU_PLUGIN_BASE_FLAGS_PARSE_H_
#define HPU_PLUGIN_BASE_FLAGS_PARSE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace hpu::flags {

// Whether the program or its user chose a value, be it the default.
bool IsSet(const char* name);

// Whether TF_CPP_MIN_LOG_LEVEL keeps warnings from the console, for those that do not go through TensorFlow's log.
bool WarningsAreOff();

// Each returns `fallback` where the variable is unset, empty or unreadable; the last is reported once per variable.
bool ParseBool(const char* name, bool fallback);  // 1/true/yes/on, 0/false/no/off, in any case
int64_t ParseInt(const char* name, int64_t fallback);
std::string ParseString(const char* name, const char* fallback);
std::string ParseEnum(const char* name, const char* fallback, std::initializer_list<const char*> values);
std::vector<std::string> ParseList(const char* name, const char* fallback);  // commas; blanks around entries dropped

}  // namespace hpu::flags

#endif  // HPU_PLUGIN_BASE_FLAGS_PARSE_H_
