package smiabi

import (
	"math"

	"github.com/rocwire/rocwire/smi"
)

// sensorOf is the sensor that AMD SMI's temperature types mean. The many types of the
// board's own sensors have none.
var sensorOf = map[temperatureType]string{
	AMDSMI_TEMPERATURE_TYPE_EDGE:    smi.SensorEdge,
	AMDSMI_TEMPERATURE_TYPE_HOTSPOT: smi.SensorHotspot,
	AMDSMI_TEMPERATURE_TYPE_VRAM:    smi.SensorMem,
	AMDSMI_TEMPERATURE_TYPE_HBM_0:   "hbm0",
	AMDSMI_TEMPERATURE_TYPE_HBM_1:   "hbm1",
	AMDSMI_TEMPERATURE_TYPE_HBM_2:   "hbm2",
	AMDSMI_TEMPERATURE_TYPE_HBM_3:   "hbm3",
	AMDSMI_TEMPERATURE_TYPE_PLX:     smi.SensorPLX,
}

// amdsmiGetTempMetric is a sensor's temperature, or one of its limits, in °C.
func amdsmiGetTempMetric(c card, typ temperatureType, metric temperatureMetric, temperature *int64) status {
	if typ > AMDSMI_TEMPERATURE_TYPE__MAX || metric > AMDSMI_TEMP_LAST {
		return AMDSMI_STATUS_INVAL
	}
	sensor, ok := sensorOf[typ]
	if !ok {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	for _, t := range m.Temperatures {
		if t.Sensor != sensor {
			continue
		}
		var o smi.Opt[smi.Celsius]
		switch metric {
		case AMDSMI_TEMP_CURRENT:
			o = t.Current
		case AMDSMI_TEMP_CRITICAL:
			o = t.Limit
		case AMDSMI_TEMP_EMERGENCY, AMDSMI_TEMP_SHUTDOWN:
			o = t.Shutdown
		}
		v, ok := o.Get()
		if !ok {
			break
		}
		*temperature = int64(math.Round(float64(v)))
		return AMDSMI_STATUS_SUCCESS
	}
	return AMDSMI_STATUS_NOT_SUPPORTED
}
