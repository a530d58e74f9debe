// File names in a recipe cache's directory.
#ifndef HPU_PLUGIN_RECIPES_FILE_NAMES_H_
#define HPU_PLUGIN_RECIPES_FILE_NAMES_H_

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hpu::recipes {

inline constexpr absl::string_view kEntrySuffix = ".recipe";     // an entry, named by its key
inline constexpr absl::string_view kNotesSuffix = ".notes";      // notes about a cluster, named by their key
inline constexpr absl::string_view kLockSuffix = ".lock";        // lock held by the process that compiles the entry
inline constexpr absl::string_view kDamagedSuffix = ".damaged";  // a refused entry, set aside for inspection
inline constexpr absl::string_view kTemporaryPrefix = ".tmp-";   // an entry that is still being written
inline constexpr absl::string_view kEvictionLock = ".eviction.lock";

inline std::string EntryName(absl::string_view key) { return absl::StrCat(key, kEntrySuffix); }
inline std::string NotesName(absl::string_view key) { return absl::StrCat(key, kNotesSuffix); }
inline std::string LockName(absl::string_view key) { return absl::StrCat(key, kLockSuffix); }
inline std::string DamagedName(absl::string_view key) { return absl::StrCat(key, kDamagedSuffix); }
inline std::string TemporaryName(int pid, int number, absl::string_view name) {
  return absl::StrCat(kTemporaryPrefix, pid, "-", number, "-", name);
}
inline bool IsEntry(absl::string_view name) { return absl::EndsWith(name, kEntrySuffix) && name.front() != '.'; }
inline bool IsNotes(absl::string_view name) { return absl::EndsWith(name, kNotesSuffix) && name.front() != '.'; }
inline bool IsTemporary(absl::string_view name) { return absl::StartsWith(name, kTemporaryPrefix); }
inline bool IsLock(absl::string_view name) { return absl::EndsWith(name, kLockSuffix) && name != kEvictionLock; }
inline bool IsDamaged(absl::string_view name) { return absl::EndsWith(name, kDamagedSuffix); }

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_FILE_NAMES_H_
