#include "plugin/testing/cts/backends.h"

#include "absl/strings/string_view.h"

namespace hpu::cts {
namespace {

std::vector<Entry>& MutableEntries() {
  static auto* const entries = new std::vector<Entry>;
  return *entries;
}

// Matches all of `text` against `pattern`, in which * stands for any text.
bool Matches(absl::string_view pattern, absl::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return Matches(pattern.substr(1), text) || (!text.empty() && Matches(pattern, text.substr(1)));
  }
  return !text.empty() && pattern.front() == text.front() && Matches(pattern.substr(1), text.substr(1));
}

}  // namespace

bool Register(const Entry& entry) {
  MutableEntries().push_back(entry);
  return true;
}

const std::vector<Entry>& Entries() { return MutableEntries(); }

const std::vector<BackendUnderTest>& Backends() {
  static const auto* const backends = [] {
    auto* all = new std::vector<BackendUnderTest>;
    for (const Entry& entry : Entries()) {
      if (entry.backends == nullptr) continue;
      for (BackendUnderTest& backend : entry.backends()) all->push_back(std::move(backend));
    }
    return all;
  }();
  return *backends;
}

std::vector<Listed> UnsupportedHere() {
#ifdef __SANITIZE_THREAD__
  return {{"RecipeTest.*", "runs inside TensorFlow, whose locks ThreadSanitizer does not see"},
          {"ForkTest.*", "ThreadSanitizer does not support children of processes with threads"},
          {"ModuleTest.ForkedChildDoesNotHoldTheModule", "ThreadSanitizer does not support forked children"}};
#else
  return {};
#endif
}

const Listed* Find(const std::vector<Listed>& list, const std::string& test) {
  for (const Listed& listed : list) {
    if (Matches(listed.pattern, test)) return &listed;
  }
  return nullptr;
}

}  // namespace hpu::cts
