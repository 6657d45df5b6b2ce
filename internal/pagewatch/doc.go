// Package pagewatch knows which pages of a piece of this process's memory were written since they were last looked at, so that who keeps a copy of the memory
// need not compare all of it. The kernel tells, without any handler of faults: pages are write-protected by userfaultfd in its asynchronous mode, in which
// a write, of a thread or of a system call, only removes the protection of its page, and PAGEMAP_SCAN (Linux 6.7) lists the pages that have none.
//
// A [Watch] never says of a page that was written that it was not. It falls back to "look at all" wherever the kernel cannot tell: an older one, one that
// forbids userfaultfd, memory that is not private and anonymous (another mapping of it can be written), memory that was unmapped and mapped again.
//
// # Pages
//
// A page is open (not protected: every look finds it) or protected. An open page becomes protected when a look has found nothing new in it, and at first by
// the second look, so memory that is written all the time costs a comparison and no faults.
//
// # Writers that the kernel does not see
//
// A device, or another process, that writes to a page which it has pinned before (a read with O_DIRECT, buffers registered with io_uring or an
// RDMA card) removes the protection when it pins, not when it writes. So with [Options.Pinned] a page that was protected is looked at further
// on, until at least [grace] later nothing in this process can have pinned pages: no memory is accounted as pinned, and no descriptor is open of the kinds that
// pin. As long as there are such, its pages are looked at every time, as without this package.
package pagewatch
