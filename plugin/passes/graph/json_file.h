// Reader for JSON configuration files.
#ifndef HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_
#define HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"

namespace hpu::passes {

// The text of a file. Fails with NOT_FOUND if the file does not exist, and with INVALID_ARGUMENT if the file cannot be
// read. The error names the file.
absl::StatusOr<std::string> ReadText(const std::string& path);

// Parses the text of the file `path` as a JSON object. Errors name the file.
absl::StatusOr<google::protobuf::Struct> ParseJsonObject(const std::string& text, const std::string& path);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_JSON_FILE_H_
