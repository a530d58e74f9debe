// FormatBytes: a number of bytes as text, for errors and logs.
#ifndef HPU_PLUGIN_BASE_FORMAT_BYTES_H_
#define HPU_PLUGIN_BASE_FORMAT_BYTES_H_

#include <cstdint>
#include <string>

namespace hpu {

// "512 bytes" below 1 MiB; otherwise in MiB, with one decimal unless it is zero: "1.5 MiB", "98304 MiB".
std::string FormatBytes(uint64_t bytes);

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_FORMAT_BYTES_H_
