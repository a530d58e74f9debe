#include "plugin/passes/graph/json_file.h"

#include "google/protobuf/util/json_util.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/platform/env.h"

namespace hpu::passes {

absl::StatusOr<std::string> ReadText(const std::string& path) {
  tensorflow::Env* env = tensorflow::Env::Default();
  if (env->IsDirectory(path).ok()) return tensorflow::errors::InvalidArgument(path, " is a directory, not a JSON file");
  std::string text;
  const absl::Status read = tensorflow::ReadFileToString(env, path, &text);
  if (absl::IsNotFound(read)) return tensorflow::errors::NotFound("file not found: ", path);
  if (!read.ok()) return tensorflow::errors::InvalidArgument("cannot read ", path, ": ", read.message());
  return text;
}

absl::StatusOr<google::protobuf::Struct> ParseJsonObject(const std::string& text, const std::string& path) {
  google::protobuf::Struct object;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &object);
  if (!parsed.ok()) {
    const auto message = parsed.message();
    return tensorflow::errors::InvalidArgument(
        path, ": invalid JSON, expected an object: ", std::string(message.data(), message.size()));
  }
  return object;
}

}  // namespace hpu::passes
