#include "plugin/passes/graph/json_file.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "tensorflow/core/platform/env.h"

namespace hpu::passes {

absl::StatusOr<std::string> ReadText(const std::string& path) {
  tensorflow::Env* env = tensorflow::Env::Default();
  if (env->IsDirectory(path).ok())
    return absl::InvalidArgumentError(absl::StrCat(path, " is a directory, not a JSON file"));
  std::string text;
  const absl::Status read = tensorflow::ReadFileToString(env, path, &text);
  if (absl::IsNotFound(read)) return absl::NotFoundError(absl::StrCat("file not found: ", path));
  if (!read.ok()) return absl::InvalidArgumentError(absl::StrCat("cannot read ", path, ": ", read.message()));
  return text;
}

absl::StatusOr<google::protobuf::Struct> ParseJsonObject(const std::string& text, const std::string& path) {
  google::protobuf::Struct object;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &object);
  if (!parsed.ok()) {
    const auto message = parsed.message();
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": invalid JSON, expected an object: ", std::string(message.data(), message.size())));
  }
  return object;
}

}  // namespace hpu::passes
