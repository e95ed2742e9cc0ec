// What the tool says of itself, on standard error, and what it ends with.
#pragma once

#include <exception>
#include <string>

#include "base/result.h"
#include "text/diagnostic.h"

namespace mlbcc {

enum class Verbosity { quiet, normal, verbose };

// Exit statuses of mlbcc itself; otherwise the traced command's own.
inline constexpr int kExitFailure = 1;    // of the machine or the tool
inline constexpr int kExitUsage = 2;      // of the command line or the rules
inline constexpr int kExitFindings = 97;  // --fail-on: there were such findings

// Tells an error; returns kExitFailure.
int tell(const Error& error);
int tell(const std::exception& thrown);          // likewise
Error unexpected(const std::exception& thrown);  // what it says, and what can be done
// Tells what is wrong with the rules; true if there are errors. Warnings and notes unless quiet.
bool tell(const Diagnostics& diagnostics, Verbosity verbosity, bool asides = false);
void tell_note(Verbosity verbosity, const std::string& text);

}  // namespace mlbcc
