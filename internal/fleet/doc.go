// Package fleet is what several workers are together: where they are found, and what each of them has, who uses it, and what is wrong with it.
package fleet
