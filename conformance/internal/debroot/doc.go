// Package debroot starts programs with an unpacked tree of Debian's packages as their root.
//
// Most programs of the tree run where they lie, by the tree's own loader. Those that start others
// by their path (a compiler, a shell, themselves) then get this machine's, or its C library. Here they find
// the tree's: /usr is the tree's and cannot be written, /bin, /lib and /lib64 lead into it, /etc has what is in the
// tree's and this machine's users. /proc, /dev, /sys and the network are this machine's, and the folders that are
// shared are at the same place as outside, so that paths mean the same.
//
// A process makes such a root in a mount namespace of its own and then becomes the program, so nothing has to be
// taken away afterwards and the tree stays as it is. That takes root, or user namespaces for everybody.
//
// A program that uses this package calls Main before all else: it is started once more as what makes the root.
package debroot
