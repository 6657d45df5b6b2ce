package smiremote_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// A worker's cards, and who uses them. What a card does not tell is no zero: it is
// not there.
func ExampleClient() {
	worker, stop := remotetest.Run(smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...)})
	defer stop()

	c := smiremote.NewClient(smiremote.Options{Address: worker}) // host:port, or unix:PATH
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	snap, err := c.Snapshot(ctx) // everything, in one round trip
	if err != nil {
		log.Fatal(err) // the worker cannot be reached
	}
	for _, d := range snap.Devices {
		fmt.Printf("GPU %d: %s\n", d.Device.Index, d.Device.Name)
		if err := d.MetricsErr.Err(); err != nil {
			fmt.Println("  no figures:", err) // of this card; the others have theirs
			continue
		}
		if age, ok := d.Metrics.Stale.Get(); ok {
			fmt.Printf("  the card does not answer, these figures are %.0f s old\n", age.Seconds())
		}
		if w, ok := d.Metrics.Power.Draw().Get(); ok {
			fmt.Printf("  %.0f W\n", w)
		}
		fmt.Println("  hot spot:", d.Metrics.Temperature(smi.SensorHotspot), "°C")
		for _, p := range d.Processes {
			who := "on this machine"
			if p.Client != nil {
				who = "for " + p.Client.User + " on " + p.Client.Host
			}
			fmt.Printf("  process %d %s: %v bytes\n", p.PID, who, p.VRAM)
		}
	}
	// Output:
	// GPU 0: AMD Instinct MI300X
	//   412 W
	//   hot spot: 61 °C
	//   process 4711 for ada on train-3: 4294967296 bytes
	//   process 5000 on this machine: 296747008 bytes
	// GPU 1: AMD Radeon Graphics
	//   hot spot: N/A °C
}

// Events as they happen, until the context ends.
func ExampleClient_Events() {
	source := smitest.NewFaulty(2, 0)
	worker, stop := remotetest.Run(smiremote.HandlerOptions{Source: source})
	defer stop()
	c := smiremote.NewClient(smiremote.Options{Address: worker})
	defer c.Close()

	// A simulated card can be told to fail.
	if err := c.Inject(context.Background(), 1, smi.Fault{Kind: smi.FaultThermal}); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := c.Events(ctx, func(e smi.Event) {
		fmt.Printf("GPU %d: %s\n", e.Device, e.Kind)
		cancel()
	})
	fmt.Println(err)
	// Output:
	// GPU 1: thermal_throttle
	// context canceled
}
