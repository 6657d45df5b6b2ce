package main

func clientGo(t *Table) string { return "package hipremote\n" }
func dispatchGo(t *Table) string { return "package worker\n" }
func headerC(t *Table) string { return "" }
func headerRuntimeC(t *Table) string { return "" }
func exportsC(t *Table) string { return "" }
func exportsGo(t *Table) string { return "package hipabi\n" }
func versionMap(t *Table) string { return "" }
func rocmTableC(t *Table) string { return "" }
func rocmGo(t *Table) string { return "package rocm\n" }
func coverageMD(t *Table) string { return "" }
