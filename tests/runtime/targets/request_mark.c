/* What a server calls to say which request its thread works for: `mlbcc serve --marker`. */
void works_for(unsigned long request) {
    (void)request;
}
