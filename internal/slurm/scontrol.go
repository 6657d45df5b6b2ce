package slurm

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// allocated asks Slurm which cards of the node a job has. Only nodes with cards of several types need it: SLURM_JOB_GPUS of a prolog has those of one type
// alone then (seen with 22.05), and a question for each job is a burden to Slurm's controller.
func allocated(ctx context.Context, j *Job) ([]int, error) {
	path, err := exec.LookPath("scontrol")
	if err != nil {
		path = "/usr/bin/scontrol" // a prolog's PATH may be empty
	}
	var says bytes.Buffer
	c := exec.CommandContext(ctx, path, "show", "job", "-d", "-o", j.ID)
	c.Stderr = &says
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("scontrol show job: %w: %s", err, strings.TrimSpace(says.String()))
	}
	return parseAllocated(string(out), j.Node)
}

// parseAllocated finds a node's cards in what scontrol show job -d -o says: … Nodes=n[1-2] CPU_IDs=0 Mem=0 GRES=gpu:mi210:1(IDX:0),gpu:mi300x:2(IDX:1-2) …
func parseAllocated(out, node string) (cards []int, err error) {
	here := false
	for field := range strings.FieldsSeq(out) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "Nodes":
			nodes, err := ParseNodes(value)
			if err != nil {
				return nil, err
			}
			here = slices.Contains(nodes, node)
		case "GRES":
			if !here {
				continue
			}
			for gres := range splitOutside(value, '(', ')') {
				_, index, ok := strings.Cut(gres, "(IDX:")
				if !ok || !strings.HasPrefix(gres, "gpu") {
					continue
				}
				list, err := Numbers(strings.TrimSuffix(index, ")"))
				if err != nil {
					return nil, err
				}
				cards = append(cards, list...)
			}
		}
	}
	slices.Sort(cards)
	return slices.Compact(cards), nil
}
