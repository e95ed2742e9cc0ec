// Whether the kernel, when a file of an overlay is opened, also tells of the file below it, in the
// layer. Then to watch both would have whoever asks for the first wait for the second, which it has
// to answer itself: for ever. Linux 6.18 does so, 6.1 does not.
#pragma once

namespace mlbcc::files {

bool is_on_overlay(const char* path);

// Found by trying, on an overlay in a mount namespace of its own; opens no other files. True where
// that cannot be tried: then it is the layers that must be watched.
bool layers_tell();

}  // namespace mlbcc::files
