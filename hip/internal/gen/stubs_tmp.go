package main

func clientGo(t *Table) string { return "package hipremote\n" }
func dispatchGo(t *Table) string { return "package worker\n" }
func rocmTableC(t *Table) string { return "" }
func rocmGo(t *Table) string { return "package rocm\n" }
func coverageMD(t *Table) string { return "" }
