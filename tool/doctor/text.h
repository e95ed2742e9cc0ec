// The rows of `mlbcc doctor` as text for a person and as JSON for a program (docs/doctor.md).
#pragma once

#include <string>
#include <vector>

#include "doctor/checks.h"

namespace mlbcc::doctor {

std::string doctor_text(const Facts& found, const std::vector<Row>& rows, bool color);
std::string doctor_json(const Facts& found, const std::vector<Row>& rows);

}  // namespace mlbcc::doctor
