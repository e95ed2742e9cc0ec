// Parts of a profile's text, each a section of rows; none where nothing is known.
#pragma once

#include "profile/profile.h"
#include "sink/summary_text.h"

namespace mlbcc::profile {

void add_findings(sink::Rows& rows, const Profile& profile);
void add_calls(sink::Rows& rows, const Profile& profile);
void add_off_cpu(sink::Rows& rows, const Profile& profile);
void add_gpu(sink::Rows& rows, const Profile& profile);
void add_memory(sink::Rows& rows, const Profile& profile);
void add_phases(sink::Rows& rows, const Profile& profile);
void add_time(sink::Rows& rows, const Profile& profile);

// "on CPU 62.1 %, disk 30.0 %, to_run 7.9 %"
std::string shares_text(const TimeShares& shares);

}  // namespace mlbcc::profile
