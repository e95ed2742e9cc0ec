/* What Python hands to its audit probe, for profile_pickles.rules (the layout of CPython 3.8 to 3.11: an ASCII text
   begins 48 bytes behind the beginning of its object). */
struct python_arguments {
    long references;
    void *type;
    long length;
    unsigned long item[2];
};
enum python_layout { PYTHON_TEXT = 48 };
