// Operations that programs for the process's backend contain as marked calls (plugin/program/marked_call.h).
#ifndef HPU_PLUGIN_COMPILER_MARKED_OPERATIONS_H_
#define HPU_PLUGIN_COMPILER_MARKED_OPERATIONS_H_

namespace hpu {

// Whether the process's backend wants `operation` as a marked call. False if there is no backend.
bool MarksOperation(const char* operation);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_MARKED_OPERATIONS_H_
