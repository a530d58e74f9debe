#include "plugin/testing/cts/backends.h"

#include <cstdlib>

#include "absl/strings/string_view.h"

namespace hpu::cts {
namespace {

// Matches all of `text` against `pattern`, in which * stands for any text.
bool Matches(absl::string_view pattern, absl::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return Matches(pattern.substr(1), text) || (!text.empty() && Matches(pattern, text.substr(1)));
  }
  return !text.empty() && pattern.front() == text.front() && Matches(pattern.substr(1), text.substr(1));
}

// Tests that a ThreadSanitizer build cannot run on any backend.
std::vector<Listed> UnsupportedHere() {
#ifdef __SANITIZE_THREAD__
  return {{"RecipeTest.*", "runs inside TensorFlow, whose locks ThreadSanitizer does not see"},
          {"ForkTest.*", "ThreadSanitizer does not support children of processes with threads"},
          {"ModuleTest.AForkedChildDoesNotKeepTheModule", "ThreadSanitizer does not support forked children"}};
#else
  return {};
#endif
}

}  // namespace

const std::vector<BackendUnderTest>& Backends() {
  static const auto* backends = [] {
    BackendUnderTest emulator;
    emulator.name = emulator.spec = "emulator";
    emulator.unsupported = UnsupportedHere();

    BackendUnderTest null;
    null.name = null.spec = "null";
    null.holds_data = false;
    null.exclusive = false;
    null.asynchronous = false;
    null.unsupported = UnsupportedHere();
    null.unsupported.push_back({"ModuleTest.*", "modules of the null backend are not exclusive"});
    null.unsupported.push_back({"CommunicatorTest.*", "devices of the null backend reduce nothing among themselves"});

    auto* all = new std::vector<BackendUnderTest>{emulator, null};
    if (const char* server = std::getenv(kServerVariable); server != nullptr) {
      BackendUnderTest remote;
      remote.name = "remote";
      remote.spec = server;
      const char* no_files = "a device server knows its clients; they have no lock files";
      remote.unsupported = {{"ModuleTest.WhatAFileSaysCountsOnlyWhileItIsLocked", no_files},
                            {"ModuleTest.UnsafeDirectoriesAndFilesAreRefused", no_files},
                            {"ModuleTest.FilesArePrivateToTheUser", no_files},
                            {"CommunicatorTest.RanksOfSeveralProcesses*", "the server joins the ranks"},
                            {"CommunicatorTest.OperationsOnSeveralStreamsRunInTheOrderOfTheCalls",
                             "commands of several streams reach a device server in any order"}};
      all->push_back(remote);
    }
    return all;
  }();
  return *backends;
}

const Listed* Find(const std::vector<Listed>& list, const std::string& test) {
  for (const Listed& listed : list) {
    if (Matches(listed.pattern, test)) return &listed;
  }
  return nullptr;
}

}  // namespace hpu::cts
