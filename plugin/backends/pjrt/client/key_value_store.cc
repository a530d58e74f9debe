#include "plugin/backends/pjrt/client/key_value_store.h"

#include <algorithm>

namespace hpu::pjrt {
namespace {

template <typename Args>
PJRT_Error* ToError(const Args* args, const absl::Status& status) {
  const std::string message(status.message());
  // PJRT_Error_Code has the same values as absl::StatusCode.
  return (*args->callback_error)(static_cast<PJRT_Error_Code>(status.code()), message.data(), message.size());
}

void DeleteValue(char* value) { delete[] value; }

// Passes `value`, or its error, to the plugin, which deletes the value.
template <typename Args>
PJRT_Error* Return(Args* args, const absl::StatusOr<std::string>& value) {
  if (!value.ok()) return ToError(args, value.status());
  args->value = new char[value->size()];
  std::copy(value->begin(), value->end(), args->value);
  args->value_size = value->size();
  args->value_deleter_callback = DeleteValue;
  return nullptr;
}

template <typename Args>
KeyValueStore& StoreOf(const Args* args) {
  return *static_cast<KeyValueStore*>(args->user_arg);
}

template <typename Args>
absl::string_view KeyOf(const Args* args) {
  return {args->key, args->key_size};
}

PJRT_Error* Get(PJRT_KeyValueGetCallback_Args* args) {
  return Return(args, StoreOf(args).Get(KeyOf(args), std::chrono::milliseconds(args->timeout_in_ms)));
}

PJRT_Error* TryGet(PJRT_KeyValueTryGetCallback_Args* args) { return Return(args, StoreOf(args).TryGet(KeyOf(args))); }

PJRT_Error* Put(PJRT_KeyValuePutCallback_Args* args) {
  const absl::Status status = StoreOf(args).Put(KeyOf(args), absl::string_view(args->value, args->value_size));
  return status.ok() ? nullptr : ToError(args, status);
}

}  // namespace

void SetKeyValueCallbacks(KeyValueStore* store, PJRT_Client_Create_Args* create) {
  create->kv_get_callback = Get;
  create->kv_get_user_arg = store;
  create->kv_try_get_callback = TryGet;
  create->kv_try_get_user_arg = store;
  create->kv_put_callback = Put;
  create->kv_put_user_arg = store;
}

}  // namespace hpu::pjrt
