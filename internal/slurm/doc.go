// Package slurm hands the cards of workers to Slurm's jobs. Slurm allocates them, as GRES "gpu" of the nodes that jobs run on; this package says which card
// of which worker each of a node's stands for, and lets a job in there as long as it lasts.
//
//	Layout.GRES    gres.conf from the cards of workers, and Layout, which says what each entry of it is
//	Prolog         on a node, as root, before a job begins: has a token issued on each worker that the job has cards of
//	TaskProlog     as the job's user, before each task: tells its programs where the cards are
//	Epilog         as root, when the job has ended: has the tokens revoked, and with them what is left of the job
//
// # Trust
//
// The layout and the issuer's token are root's. A job's environment is its user's: what Prolog and Epilog take from there are names and numbers that slurmd
// has set, and they are checked before they become part of a path.
package slurm
