package exec

import goflag "flag"

// What the programs of the tests have for Options.TranslateAfter.
var translate = goflag.Int("translate", 0, "how many times a block is executed before it is translated; 1: at once; -1: never, as on processors that there is no translation for")
