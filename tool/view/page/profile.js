// What `mlbcc profile` found: phases and findings.
function drawProfile(profile) {
  if (!profile) return;
}
