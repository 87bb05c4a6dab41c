/* The ABI headers as C++: they compile, and the layout is the released one. */
#include "layout_1_2.inc"
