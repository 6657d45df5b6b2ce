package check

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// object is a JSON schema.
type object = map[string]any

// schemaOf is the strict schema of a Kubernetes type: no field that the type does not
// have, and those that it never leaves out, apart from what the server fills in.
func schemaOf(kind any) ([]byte, error) {
	r := &reflector{defs: object{}}
	s := r.of(reflect.TypeOf(kind))
	return json.Marshal(object{"$schema": "http://json-schema.org/draft-07/schema#", "$defs": r.defs, "allOf": []any{s}})
}

type reflector struct{ defs object }

// Types that are written in another way than their fields say.
var special = map[reflect.Type]object{
	reflect.TypeFor[resource.Quantity]():    {"type": []string{"string", "number"}, "pattern": `^[+-]?[0-9.]+([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$`},
	reflect.TypeFor[intstr.IntOrString]():   {"type": []string{"integer", "string"}},
	reflect.TypeFor[metav1.Time]():          {"type": []string{"string", "null"}},
	reflect.TypeFor[metav1.MicroTime]():     {"type": []string{"string", "null"}},
	reflect.TypeFor[metav1.Duration]():      {"type": "string"},
	reflect.TypeFor[metav1.FieldsV1]():      {},
	reflect.TypeFor[runtime.RawExtension](): {},
}

func (r *reflector) of(t reflect.Type) object {
	if s, ok := special[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.of(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string"} // base64
		}
		return object{"type": "array", "items": r.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": r.of(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
		return r.structure(t)
	}
	return object{"type": "integer"}
}

func (r *reflector) structure(t reflect.Type) object {
	name := strings.NewReplacer("/", ".", "[", "_", "]", "_").Replace(t.PkgPath() + "." + t.Name())
	ref := object{"$ref": "#/$defs/" + name}
	if _, ok := r.defs[name]; ok {
		return ref
	}
	s := object{"type": "object", "additionalProperties": false}
	r.defs[name] = s // before its fields, which may lead back here
	properties := object{}
	required := []string{}
	r.fields(t, properties, &required)
	s["properties"] = properties
	if len(required) > 0 {
		s["required"] = required
	}
	return ref
}

func (r *reflector) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case f.Anonymous && name == "":
			r.fields(f.Type, properties, required)
			continue
		}
		properties[name] = r.of(f.Type)
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") || f.Type.Kind() == reflect.Struct
		if !optional {
			*required = append(*required, name)
		}
	}
}
