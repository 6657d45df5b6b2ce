// Package rows makes rows of database tables of what an exporter knows: the tables that
// TensorFusion defines (tf_gpu_usage, tf_worker_usage, tf_node_metrics), the use each
// process makes of each card (gpu_process_usage), and how long calls took
// (hip_rpc_latency). Packages greptime and influx send them.
//
// # Rows
//
// A [Schema] says which columns a table has. All rows of one reading have its time, to
// the millisecond, which never repeats or goes back while a [Maker] lives. A row's tags
// and its time are its key: none is twice in a batch, and a row that is written again
// overwrites itself. Tags never move or change their kind; a value that is not known is
// null, in a tag as in a field, and never 0.
//
// # Intervals
//
// Running totals become what was added since the reading before, so that a database can
// add rows up over any time and any set of hosts. What a Maker counts from is moved only
// by [Maker.Keep], once the batch is safe: what could not be stored is in the next batch,
// whose interval is longer. A total that was there before the Maker was, or that it sees
// for the first time although it is old, is only noted; one that began since, or fell,
// counts as a whole. What was called while no exporter ran is therefore in no row.
//
// # Bounds
//
// A batch has at most [MaxRows] rows. Cards and processes come first; latencies that do
// not fit come in a later batch. Of the processes of one card the Maker takes those that
// hold most memory.
//
// # Records
//
// [Batch.Encode] makes a record for package push: it names its tables and columns, so
// that one that waited on disk through an upgrade can still be sent, and it ends with a
// checksum.
//
// # Trust
//
// Names come from clients and may be anything: they are made valid UTF-8 without control
// characters and cut to [MaxText] bytes. A figure that is not finite is null. [Decode]
// believes nothing in a record: every count is checked against the bytes that are left
// before memory is taken, and a batch that breaks a rule of this package is refused.
package rows
