/* Tells a library that leads here from AMD's own: rocm/amdsmi, which opens the
 * vendor's library by its name, refuses the one that has this very symbol. */
extern const char rocwire_library[];
const char rocwire_library[] = "librocwire.so";
