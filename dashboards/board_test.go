package dashboards

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// These are a dashboard's JSON, as far as the tests look.
type (
	jsonBoard struct {
		UID, Title, Description string
		Refresh                 string
		Time                    struct{ From, To string }
		Tags                    []string
		Links                   []jsonLink
		Panels                  []jsonPanel
		Templating              struct{ List []jsonVariable }
		Annotations             struct{ List []jsonAnnotation }
	}
	jsonPanel struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		Datasource               jsonSource
		Targets                  []jsonTarget
		Transformations          []struct {
			ID      string
			Options struct {
				RenameByName  map[string]string
				ExcludeByName map[string]bool
			}
		}
		Options struct {
			YAxis struct{ Unit string }
		}
		FieldConfig struct {
			Defaults struct {
				Unit, NoValue string
				Links         []jsonLink
				Color         struct{ Mode string }
				Thresholds    struct {
					Steps []struct {
						Value *float64
						Color string
					}
				}
			}
			Overrides []struct {
				Matcher    struct{ ID, Options string }
				Properties []struct {
					ID    string
					Value json.RawMessage
				}
			}
		}
	}
	jsonTarget struct {
		RefID, Expr, LegendFormat, Format string
		Instant, Range                    bool
		Datasource                        jsonSource
	}
	jsonSource struct{ Type, UID string }
	jsonLink   struct {
		Title, URL            string
		IncludeVars, KeepTime bool
	}
	jsonVariable struct {
		Name, Label, Description, Type, AllValue, Regex string
		Multi, IncludeAll                               bool
		Hide                                            int
		Query                                           json.RawMessage
		Datasource                                      jsonSource
	}
	jsonAnnotation struct {
		Name, Expr, TitleFormat, TextFormat, IconColor string
		Datasource                                     jsonSource
		Target                                         struct{ Expr string }
	}
)

// committed reads the dashboards of the tree.
func committed(t *testing.T) []jsonBoard {
	t.Helper()
	names, err := filepath.Glob("*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d dashboards, %v", len(names), err)
	}
	var list []jsonBoard
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var board jsonBoard
		if err := json.Unmarshal(b, &board); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if board.UID+".json" != name {
			t.Errorf("%s has uid %q", name, board.UID)
		}
		list = append(list, board)
	}
	return list
}

// questions is what a variable asks Prometheus; "" for the data source.
func (v *jsonVariable) question(t *testing.T) string {
	t.Helper()
	if v.Type == "datasource" {
		return ""
	}
	var q struct{ Query string }
	if err := json.Unmarshal(v.Query, &q); err != nil || q.Query == "" {
		t.Fatalf("variable %s: %s: %v", v.Name, v.Query, err)
	}
	return q.Query
}

// The files of the tree are what the generator makes now.
func TestFilesAreCurrent(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	have, err := filepath.Glob("*.json")
	if err != nil || len(have) != len(files) {
		t.Errorf("there are %v, %v; %d are made", have, err, len(files))
	}
	for _, f := range files {
		if b, err := os.ReadFile(f.Name); err != nil || string(b) != string(f.JSON) {
			t.Errorf("%s is not what go generate makes (%v)", f.Name, err)
		}
	}
}
