// Package windows tests the libraries and programs for Windows: what scripts/windows.sh builds runs under Wine, on a worker of this machine.
package windows
